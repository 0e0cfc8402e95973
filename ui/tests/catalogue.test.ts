import { describe, expect, test } from "vitest";
import type { TargetCatalogue } from "../src/api/types";
import { claimOf, deleteCommand, queryOf, readFilter, searchCommand, syncHeadline } from "../src/logic/catalogue";
import { scrollTopOf, TALLEST, windowOf } from "../src/logic/tables";
import { FarRows, PAGE } from "../src/store/far_rows";

const target = (name: string, more: Partial<TargetCatalogue> = {}, sync: object = {}): TargetCatalogue =>
    ({
        name,
        available: true,
        lastSyncedAt: "2026-01-01T14:02:00Z",
        sync: { stage: "Done", failures: 0, ...sync },
        ...more,
    }) as TargetCatalogue;
const clock = (time: string) => time.slice(11, 16);

describe("the state of the catalogue in one line", () => {
    test("how far, how many targets are up to date, and since when all is known", () => {
        const busy = { stage: "ReadingBackups", done: 1, total: 10 };
        const all = [
            target("a"),
            target("b"),
            target("c", { lastSyncedAt: "2026-01-01T13:00:00Z" }),
            target("d", {}, busy),
            target("e", {}, busy),
        ];
        expect(syncHeadline(all, clock)).toBe("64 %, 3 of 5 targets, last full 13:00");
    });
    test("a target that is away, failed or was never seen is not up to date", () => {
        const all = [target("a"), target("b", { available: false }), target("c", {}, { failures: 1 })];
        expect(syncHeadline(all, clock)).toBe("Up to date: 1 of 3 targets, last full 14:02");
        const { lastSyncedAt: _, ...never } = target("d");
        expect(syncHeadline([never], clock)).toBe("Up to date: 0 of 1 target, not all of them read yet");
        expect(syncHeadline([], clock)).toBe("There is no target yet.");
    });
});

describe("a filter", () => {
    const filter = readFilter(
        new URLSearchParams("search=db&state=Error&label=job%3Dx&from=20&view=volumes&until=2026-02-01"),
    );
    test("is read from the address, asked of the server and told as a command", () => {
        expect(filter).toEqual({ search: "db", state: "Error", label: "job=x", until: "2026-02-01" });
        expect(new URLSearchParams(queryOf(filter)).get("until")).toBe(new Date("2026-02-01T00:00").toISOString());
        expect(searchCommand(filter, false)).toBe(
            "tidegate catalog search db --state Error --label job=x --until 2026-02-01",
        );
        expect(deleteCommand({ namespace: "shop" })).toBe("tidegate catalog delete --namespace shop --yes");
    });
});

test("a volume is called by its claim, by whosever labels", () => {
    expect(claimOf({ "tidegate.dev/namespace": "shop", "tidegate.dev/volume": "db" })).toEqual({
        namespace: "shop",
        claim: "db",
    });
    expect(claimOf({ KubernetesStatus: '{"namespace":"blog","pvcName":"www"}' })).toEqual({
        namespace: "blog",
        claim: "www",
    });
    expect(claimOf({ KubernetesStatus: "{torn" })).toEqual({ namespace: "", claim: "" });
});

describe("a list of any length on a scroll bar", () => {
    const height = 700;
    test.each([10, 1000, 400_000, 1_000_000, 50_000_000])(
        "%d rows: both ends are reached, rows fill the view",
        (total) => {
            const tall = Math.min(total * 36, TALLEST);
            for (const part of [0, 0.1, 0.5, 0.9999, 1]) {
                const top = Math.max(0, tall - height) * part;
                const { from, to, before, after } = windowOf(total, 36, top, height);
                expect(before + (to - from) * 36 + after).toBeCloseTo(tall, 3);
                expect(before).toBeLessThanOrEqual(top + 0.001);
                expect(before + (to - from) * 36).toBeGreaterThanOrEqual(Math.min(tall, top + height) - 0.001);
            }
            expect(windowOf(total, 36, 0, height).from).toBe(0);
            expect(windowOf(total, 36, tall, height).to).toBe(total);
        },
    );
    test("a row can be gone to", () => {
        const top = scrollTopOf(500_000, 1_000_000, 36, height);
        const { from, to } = windowOf(1_000_000, 36, top, height);
        expect(from).toBeLessThanOrEqual(500_000);
        expect(to).toBeGreaterThan(500_000);
    });
});

describe("rows that only the server holds", () => {
    const asked: string[] = [];
    const server = async (path: string): Promise<never> => {
        asked.push(path);
        const query = new URLSearchParams(path.split("?")[1]);
        const first = Number(query.get("marker") ?? query.get("skip"));
        const data = Array.from({ length: PAGE }, (_, index) => first + index);
        return { data, pagination: { next: String(first + PAGE) } } as never;
    };
    const far = () => {
        asked.length = 0;
        return new FarRows<number>("/v1/things", server);
    };
    test("come by marker where the page before is known, else by how many to skip", async () => {
        const rows = far();
        for (const from of [0, 150, 50_000]) {
            rows.look(from, from + 20);
            await rows.refreshed();
        }
        expect(asked).toEqual([
            "/v1/things?limit=100&skip=0",
            "/v1/things?limit=100&marker=100",
            "/v1/things?limit=100&skip=50000",
        ]);
        expect([rows.at(0), rows.at(150), rows.at(50_010), rows.at(700)]).toEqual([0, 150, 50_010, undefined]);
    });
    test("are let go again, however far one scrolls", async () => {
        const rows = far();
        for (let from = 0; from < 100_000; from += 1000) {
            rows.look(from, from + 20);
            await rows.refreshed();
        }
        expect(rows.held).toBeLessThanOrEqual(3000);
    });
    test("are gone at once when somebody deletes them, and true again after the next look", async () => {
        const rows = far();
        rows.look(0, 20);
        await rows.refreshed();
        rows.drop((row) => row === 3);
        expect(rows.at(3)).toBe(4);
        await rows.refresh();
        expect(rows.at(3)).toBe(3);
    });
});

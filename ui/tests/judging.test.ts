import { describe, expect, test } from "vitest";
import type { ProtectionState, Queue } from "../src/api/types";
import { covers, sharedChips } from "../src/logic/globs";
import { coversNothing, failedLately, type Protections, verdict } from "../src/logic/protection";
import { StallWatch, Window } from "../src/logic/rates";
import { strip } from "../src/logic/strip";
import { span, timeline } from "../src/logic/timeline";
import { waterfall } from "../src/logic/waterfall";
import { backup, numbers, schedule, target, volume } from "./build";

const NOW = Date.parse("2026-03-10T12:00:00Z");
const ago = (hours: number): string => new Date(NOW - hours * 3_600_000).toISOString();
const daily = schedule("nightly", "@daily");
const judged = (states: Record<string, ProtectionState>): Protections =>
    new Map(Object.entries(states).map(([key, state]) => [key, { state, message: "", schedules: [] }]));

describe("a schedule", () => {
    const covering: Protections = new Map([["shop/db", { state: "Protected", message: "", schedules: ["nightly"] }]]);
    test("that makes backups of no volume is seen", () => {
        expect(coversNothing(daily, judged({ "shop/db": "NoSchedule" }))).toBe(true);
        expect(coversNothing(daily, covering)).toBe(false);
    });
    test("that makes none, or system backups, is no slip", () => {
        const nothing = judged({});
        expect(coversNothing(schedule("off", "@daily", { paused: true }), nothing)).toBe(false);
        expect(coversNothing(schedule("s", "@daily", { systemBackup: {} }), nothing)).toBe(false);
    });
});

describe("the sentence", () => {
    const judge = (more: object) =>
        verdict(
            {
                volumes: [volume("shop/db", ago(1))],
                protection: judged({ "shop/db": "Protected" }),
                targets: [target("usb")],
                failed: [],
                paused: false,
                ...more,
            },
            NOW,
        );
    test("all is well", () =>
        expect(judge({})).toEqual({ tone: "good", sentence: "The only volume is protected.", details: [] }));
    test("an empty server says what to do", () => {
        expect(judge({ targets: [] }).sentence).toBe("Nothing is protected yet: add a target to write to.");
        expect(judge({ volumes: [] }).sentence).toBe("Nothing is protected yet: add a volume to protect.");
    });
    test("what needs attention is named", () => {
        const found = judge({
            volumes: [volume("shop/db"), volume("shop/www", ago(1))],
            protection: judged({ "shop/db": "Never", "shop/www": "Protected" }),
            targets: [target("usb", false)],
        });
        expect(found.sentence).toBe("1 of 2 volumes needs attention.");
        expect(found.details).toEqual(["1 target does not answer: usb", "1 volume was never backed up: shop/db"]);
    });
    const one = { volumes: [volume("shop/db", ago(50))] };
    test.each<[ProtectionState, string, string]>([
        ["NoSchedule", "1 of 1 volume has no schedule.", "1 volume was backed up once, no schedule: shop/db"],
        ["Late", "1 of 1 volume needs attention.", "1 volume is behind schedule, by now 2d2h old: shop/db"],
        [
            "FailedLast",
            "1 of 1 volume needs attention.",
            "1 volume's last backup failed, left something out or proved bad: shop/db",
        ],
    ])("a volume that is %s is never called protected", (state, sentence, detail) => {
        const found = judge({ ...one, protection: judged({ "shop/db": state }) });
        expect(found.tone).not.toBe("good");
        expect(found).toMatchObject({ sentence, details: [detail] });
    });
    test("a failure is told though every volume has a backup", () => {
        expect(judge({ failed: [backup("b", { phase: "Failed" })] }).sentence).toBe(
            "All volumes have a backup, but 1 thing needs attention.",
        );
    });
    test("failed restores are told beside failed backups", () => {
        const restore = { kind: "Restore", metadata: { name: "r" } };
        expect(judge({ failed: [backup("a"), backup("b"), restore] }).details).toEqual([
            "2 backups and 1 restore failed in the last 24 hours: a, b, r",
        ]);
    });
    test("only failures of the last day count", () => {
        const old = backup("old", { phase: "Failed", completionTimestamp: ago(25) });
        const fresh = backup("fresh", { phase: "PartiallyFailed", completionTimestamp: ago(23) });
        expect(failedLately([old, fresh, backup("good", { completionTimestamp: ago(1) })], NOW)).toEqual([fresh]);
    });
});

describe("thirty days", () => {
    const run = (hours: number, status: object = {}) =>
        backup(
            `b${hours}`,
            { startTimestamp: ago(hours), completionTimestamp: ago(hours - 0.1), ...status },
            {},
            { creationTimestamp: ago(hours) },
        );
    const states = (runs: ReturnType<typeof run>[], one = daily) =>
        strip(one, runs, NOW, numbers)
            .slice(-4)
            .map((day) => day.state);
    test("each day has its word", () => {
        const late = backup(
            "l",
            { startTimestamp: ago(24), completionTimestamp: ago(23.9) },
            {},
            { creationTimestamp: ago(26) },
        );
        expect(states([run(50, { phase: "Failed" }), late, run(1)])).toEqual(["missed", "failed", "late", "ok"]);
    });
    test("a day on which nothing was there to back up is not green", () =>
        expect(states([run(1, { conditions: [{ type: "Empty" }] })]).at(-1)).toBe("none"));
    test("today is not missed before it is over", () => expect(states([]).at(-1)).toBe("none"));
    test("nothing is missed that retention may have removed, or while paused, or before the schedule existed", () => {
        for (const one of [
            schedule("r", "@daily", { retention: {} }),
            schedule("p", "@daily", { paused: true }),
            schedule("n", "@daily", {}, { creationTimestamp: ago(1) }),
        ]) {
            expect(states([], one)).toEqual(["none", "none", "none", "none"]);
        }
    });
    test("a day without a run is missed only if one was due", () =>
        expect(states([], schedule("w", "@weekly"))).toEqual(["none", "missed", "none", "none"]));
});

describe("namespaces", () => {
    const scope = (included: string[], excluded: string[] = []) => ({
        includedNamespaces: included,
        excludedNamespaces: excluded,
    });
    test("globs and excludes count as they are written", () => {
        expect(covers(scope(["shop-*"], ["shop-test"]), "shop-eu")).toBe(true);
        expect(covers(scope(["shop-*"], ["shop-test"]), "shop-test")).toBe(false);
        expect(covers(scope([]), "anything")).toBe(true);
        expect(covers(scope(["a.b"]), "axb")).toBe(false);
    });
    test("shared chips are those that mean something the other means too", () => {
        expect([...sharedChips(scope(["shop", "mail"]), scope(["mail", "ci"]))]).toEqual(["mail"]);
        expect([...sharedChips(scope(["shop-*", "x"]), scope(["shop-eu"]))]).toEqual(["shop-*"]);
        expect([...sharedChips(scope(["shop"]), scope([]))]).toEqual(["shop"]);
        expect([...sharedChips(scope(["shop"]), scope([], ["shop"]))]).toEqual([]);
    });
});

describe("over time", () => {
    test("a window forgets", () => {
        const window = new Window(1000);
        for (let n = 0; n < 50; n++) window.add(n * 100, n);
        expect(window.samples.length).toBe(11);
    });
    test("a stall begins with the last progress", () => {
        const watch = new StallWatch();
        expect([
            watch.note("t", 5, 0),
            watch.note("t", 5, 9000),
            watch.note("t", 6, 10_000),
            watch.note("t", 6, 15_000),
        ]).toEqual([0, 9000, 0, 5000]);
    });
    test("the timeline shows the past, the present and the forecast in this order", () => {
        const queue = {
            limit: 1,
            paused: false,
            running: ["now"],
            waiting: [
                {
                    name: "next",
                    position: 1,
                    priority: 0,
                    reason: "ConcurrencyLimit",
                    message: "",
                    expectedStart: ago(-0.1),
                },
            ],
        } as Queue;
        const all = [
            backup("now", { phase: "InProgress", startTimestamp: ago(0.1) }),
            backup("done", { startTimestamp: ago(0.5), completionTimestamp: ago(0.4) }),
            backup("old", { startTimestamp: ago(9), completionTimestamp: ago(8) }),
        ];
        const bars = timeline(all, queue, { backups: [{ name: "now", duration: 60 }] } as never, NOW);
        expect(bars.map((bar) => [bar.name, bar.kind])).toEqual([
            ["done", "done"],
            ["now", "running"],
            ["next", "forecast"],
        ]);
        expect(bars[1]!.to).toBe(NOW + 60_000);
        expect(span(bars, NOW)[1]).toBeGreaterThanOrEqual(NOW + 600_000);
    });
    test("the waterfall of a backup adds up to its whole time", () => {
        const one = backup(
            "b",
            { startTimestamp: ago(3), completionTimestamp: ago(1) },
            {},
            { creationTimestamp: ago(4) },
        );
        const move = {
            spec: { volumeNamespace: "shop", volumeName: "db" },
            metadata: { creationTimestamp: ago(3) },
            status: { acceptedTimestamp: ago(2.9), startTimestamp: ago(2.5), completionTimestamp: ago(1.5) },
        };
        const [whole, line] = waterfall(one, [move], NOW);
        expect(whole!.stages.map((stage) => stage.stage)).toEqual(["queued", "preparing", "moving", "finalising"]);
        expect(whole!.total).toBe(3 * 3_600_000);
        expect(line!.stages.map((stage) => stage.stage)).toEqual(["queued", "preparing", "moving"]);
    });
});

import { describe, expect, test } from "vitest";
import type { SystemBackup, SystemRestore } from "../src/api/types";
import { calendar, level, pileUps } from "../src/logic/calendar";
import { chainAround } from "../src/logic/chain";
import { loadHistory } from "../src/logic/load_history";
import { runOf, strip } from "../src/logic/strip";
import { backupSteps, planSentence, reliedOn, restoreSteps, volumesDone } from "../src/logic/system";
import { crumbs, exactGlob, readable } from "../src/logic/tree";
import { numbers, schedule } from "./build";

const NOW = Date.parse("2026-03-10T12:00:00Z");
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();

const systemBackup = (status: object): SystemBackup =>
    ({ kind: "SystemBackup", metadata: {}, spec: {}, status: { volumes: [], ...status } }) as unknown as SystemBackup;
const systemRestore = (status: object): SystemRestore =>
    ({
        kind: "SystemRestore",
        metadata: {},
        spec: {},
        status: { volumes: [], definitions: [], ...status },
    }) as unknown as SystemRestore;

describe("steps of a system backup", () => {
    const states = (status: object) => backupSteps(systemBackup(status)).map((step) => step.state);
    test("what is behind is done, what is ahead is to come", () =>
        expect(states({ phase: "Generating" })).toEqual(["done", "done", "now", "todo", "todo"]));
    test("at the end all are done", () => expect(new Set(states({ phase: "Ready" }))).toEqual(new Set(["done"])));
    test.each([
        [{}, 0],
        [{ volumesRequestedAt: at(0), volumes: [{ decision: "Created", state: "Failed" }] }, 1],
        [{ volumesRequestedAt: at(0), volumes: [{ decision: "Created", state: "Completed" }] }, 3],
    ])("an error is shown where it happened: %j", (more, where) => {
        const found = states({ phase: "Error", ...more });
        expect([found.indexOf("bad"), found.at(-1)]).toEqual([where, "bad"]);
    });
    test("one that was found in a store has no steps", () => expect(states({ phase: "Syncing" })).toEqual([]));
    test("only volumes that it has backed up are counted", () => {
        const volumes = [
            { decision: "Created", state: "Completed" },
            { decision: "Created", state: "Waiting" },
            { decision: "Reused", state: "" },
        ];
        expect(volumesDone(systemBackup({ phase: "CreatingVolumeBackups", volumes }))).toEqual([1, 2]);
    });
});

describe("a system restore", () => {
    test("that failed in part ends at the volumes", () =>
        expect(restoreSteps(systemRestore({ phase: "PartiallyFailed" })).map((step) => step.state)).toEqual([
            "done",
            "done",
            "done",
            "bad",
            "bad",
        ]));
    test("tells in one line what it would do", () => {
        const plan = systemRestore({
            phase: "New",
            definitions: [{ action: "Create" }, { action: "Create" }, { action: "Keep" }],
            volumes: [{ state: "Waiting" }, { state: "Skipped" }, { state: "Skipped" }],
        });
        expect(planSentence(plan)).toBe(
            "2 definitions to create, 1 definition kept as they are here, data of 1 volume comes back, data of 2 volumes left alone",
        );
    });
    test("without anything says so", () => expect(planSentence(systemRestore({ phase: "New" }))).toBe("nothing"));
});

describe("schedules of system backups", () => {
    const weekly = schedule("system", "@daily", { systemBackup: { volumeBackupPolicy: "if-changed", target: "" } });
    test("have their days in the strip", () => {
        const made = systemBackup({ phase: "Error", startTimestamp: at(-60), completionTimestamp: at(-50) });
        const run = runOf({ ...made, metadata: { creationTimestamp: at(-60), labels: {} } } as unknown as SystemBackup);
        expect(strip(weekly, [run], NOW, numbers).at(-1)).toMatchObject({ state: "failed" });
    });
});

describe("paths in a tree", () => {
    test("lead down from the root", () =>
        expect(crumbs("etc/a%20b")).toEqual([
            { name: "etc", path: "etc" },
            { name: "a b", path: "etc/a%20b" },
        ]));
    test("of no text are shown as far as they can be", () => {
        expect(readable("n%C3%A9")).toBe("né");
        expect(readable("x%FF")).toBe("x\ufffd");
    });
    test.each([
        ["etc/hosts", "/etc/hosts"],
        ["what?", "/what[?]"],
        ["a[1]*", "/a[[]1][*]"],
        ["x\ufffd", "/x?"],
    ])("%s means only itself as a glob", (path, glob) => expect(exactGlob(path)).toBe(glob));
});

describe("the week of schedules", () => {
    const runs = (...all: ReturnType<typeof schedule>[]) =>
        calendar(all, NOW, numbers).flatMap((day) => day.hours.map((hour) => hour.runs));
    const sum = (all: number[]) => all.reduce((total, one) => total + one, 0);
    test("a daily run is there once a day, whatever its zone", () => {
        for (const timezone of ["UTC", "Asia/Kolkata", "America/St_Johns", "No/Where"])
            expect(sum(runs(schedule("nightly", "30 2 * * *", { timezone })))).toBe(7);
    });
    test("every five minutes are twelve in each hour", () =>
        expect(new Set(runs(schedule("often", "*/5 * * * *")))).toEqual(new Set([12])));
    test("verifications and system backups count, paused ones do not", () => {
        const days = calendar(
            [
                schedule("a", "0 3 * * *", { verification: { schedule: "10 3 * * SUN" } }),
                schedule("b", "5 3 * * *", { systemBackup: { volumeBackupPolicy: "always", target: "" } }),
                schedule("c", "0 3 * * *", { paused: true }),
            ],
            NOW,
            numbers,
        );
        const [fullest] = pileUps(days);
        expect(fullest?.planned.map((one) => one.kind)).toEqual(["backup", "verification", "system backup"]);
        expect(pileUps(days, 100)).toHaveLength(7);
    });
    test("a zone's hour is shown at the local one", () => {
        const [hour] = pileUps(
            calendar(
                [schedule("a", "0 9 * * *", { timezone: "Asia/Tokyo" }), schedule("b", "0 0 * * *")],
                NOW,
                numbers,
            ),
        );
        expect(hour?.at.getTime()).toBe(new Date("2026-03-10T00:00:00Z").getTime());
    });
    test("colours go up to the fullest hour", () =>
        expect([0, 1, 2, 8].map((count) => level(count, 8))).toEqual([0, 1, 1, 4]));
});

describe("an hour of load", () => {
    const transfer = (accepted: number, started?: number, ended?: number) => ({
        status: {
            phase: ended === undefined ? "InProgress" : "Completed",
            acceptedTimestamp: at(accepted),
            ...(started === undefined ? {} : { startTimestamp: at(started) }),
            ...(ended === undefined ? {} : { completionTimestamp: at(ended) }),
        },
    });
    const seen = (...all: ReturnType<typeof transfer>[]) => loadHistory(all, NOW, 3_600_000, 60);
    test("is known before the page was opened", () => {
        const { moving, preparing } = seen(transfer(-30, -20, -10), transfer(-90, -80));
        expect(moving[35]).toBe(1); // 25 minutes ago: only the old one, which still runs
        expect(moving[45]).toBe(2);
        expect(moving[55]).toBe(1);
        expect([preparing[35], preparing[45]]).toEqual([1, 0]);
        expect(moving.at(-1)).toBe(1);
    });
    test("what was over before it is not shown, what took a moment is", () => {
        expect(Math.max(...seen(transfer(-90, -85, -80)).moving)).toBe(0);
        expect(Math.max(...seen(transfer(-30.5, -30.4, -30.3)).moving)).toBe(1);
    });
    test("those that came one after the other within a step were never there together", () => {
        const queueing = [0, 1, 2, 3].map((n) => transfer(-30.9, -30.8 + n / 10, -30.7 + n / 10));
        expect(Math.max(...seen(...queueing).moving)).toBe(1);
        expect(Math.max(...seen(...queueing).preparing)).toBe(4);
        expect(Math.max(...seen(transfer(-31, -30.8, -30.2), transfer(-31, -30.6, -30.4)).moving)).toBe(2);
    });
});

describe("a chain", () => {
    const all = Array.from({ length: 20 }, (_, n) => ({
        name: `b-${n}`,
        created: at(-n),
        size: "100",
        newlyUploadDataSize: String(n),
    }));
    test("shows some on each side and counts the others", () => {
        const { links, newer, older } = chainAround(all, "b-10");
        expect([links.length, newer, older]).toEqual([13, 4, 3]);
        expect(links.filter((one) => one.here).map((one) => one.name)).toEqual(["b-10"]);
        expect(links.at(-1)?.share).toBe(100);
    });
    test("that does not know the backup has nobody in the middle", () =>
        expect(chainAround(all, "x").links.some((one) => one.here)).toBe(false));
});

describe("a backup that is deleted", () => {
    const system = (name: string, ...reused: string[]): SystemBackup =>
        ({
            metadata: { name },
            status: { volumes: reused.map((backup) => ({ backup })) },
        }) as unknown as SystemBackup;
    const named = (name: string) => (volume: { backup?: string }) => volume.backup === name;
    test("names the system backups that rely on it", () =>
        expect(reliedOn([system("s1", "b", "b"), system("s2", "c")], named("b"))).toBe(
            "1 system backup relies on it and can then not bring back its volumes: s1.",
        ));
    test("counts them where they are many", () =>
        expect(
            reliedOn(
                ["a", "b", "c", "d", "e"].map((name) => system(name, "x")),
                named("x"),
            ),
        ).toContain("a, b, c and 2 more"));
    test("says nothing where nobody does", () => expect(reliedOn([system("s", "b")], named("c"))).toBe(false));
});

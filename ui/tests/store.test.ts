import { describe, expect, test } from "vitest";
import { problemFrom } from "../src/api/client";
import { parseEvents } from "../src/api/stream";
import { matchesFilter, pageOf, readSort, sorted, visible, writeSort } from "../src/logic/tables";
import { around, holds, moved, partAround, type QueuePart, rowAt, stillWaiting } from "../src/logic/queue_part";
import { roundTimes } from "../src/logic/timeline";
import { type Change, Collection } from "../src/store/collection";
import { Gate } from "../src/store/gate";
import { backOff, isChange, newest } from "../src/store/live";
import { backup } from "./build";

// Versions as another store may have them: nothing in their text says which of two is the newer.
const VERSIONS = ["zz", "m4", "a9", "x1", "b7", "q2", "f0", "d5", "k8", "c3"];
const at = (name: string, version: number, uid = `uid-${name}`) =>
    backup(name, {}, {}, { resourceVersion: VERSIONS[version], uid });
const names = (collection: Collection<ReturnType<typeof backup>>) =>
    collection.all().map((one) => `${one.metadata.name}@${VERSIONS.indexOf(one.metadata.resourceVersion)}`);

describe("a collection", () => {
    const fresh = () => new Collection<ReturnType<typeof backup>>("backups");
    const listed = (...rows: ReturnType<typeof backup>[]) => {
        const all = fresh();
        all.expectList();
        all.replaceAll(rows);
        return all;
    };
    test("changes are taken in as they come", () => {
        const all = listed(at("a", 5));
        for (const version of [4, 7, 6]) all.note("MODIFIED", at("a", version));
        all.publish();
        expect(names(all)).toEqual(["a@6"]);
    });
    test("a new place in the queue is news without a new version, but undoes nothing that was drawn", () => {
        const placed = (place: number) => ({ ...at("a", 5), status: { ...at("a", 5).status, queuePosition: place } });
        const all = listed(placed(4));
        all.note("MODIFIED", placed(3));
        expect(all.get("a")?.status.queuePosition).toBe(3);
        all.sketch("a", (held) => held && { ...held, status: { ...held.status, queuePosition: 1 } });
        all.note("MODIFIED", placed(2));
        all.expectList();
        all.replaceAll([placed(2)]);
        expect(all.get("a")?.status.queuePosition).toBe(1);
        all.noteAnswer(placed(2));
        expect(all.get("a")?.status.queuePosition).toBe(2);
    });
    test("what changes while a list is on its way wins over the row of the list", () => {
        const all = listed(at("a", 1), at("b", 1), at("c", 1), at("d", 1));
        all.expectList();
        all.note("MODIFIED", at("a", 2));
        all.note("DELETED", at("b", 2));
        all.note("ADDED", at("new", 2));
        all.addPage([at("a", 1), at("b", 1)]);
        all.note("MODIFIED", at("c", 2));
        all.replaceAll([at("a", 1), at("b", 1), at("c", 1)]);
        expect(names(all).sort()).toEqual(["a@2", "c@2", "new@2"]);
    });
    test("otherwise the row of the list replaces what is held", () => {
        const all = listed(at("a", 7), at("b", 7));
        all.note("MODIFIED", at("a", 8));
        all.expectList();
        all.replaceAll([at("a", 3)]);
        expect(names(all)).toEqual(["a@3"]);
    });
    test("a new one of the same name is not the dead one", () => {
        const all = listed(at("a", 5));
        all.note("DELETED", at("a", 6));
        all.note("ADDED", at("a", 7, "another"));
        all.note("DELETED", at("a", 6));
        all.publish();
        expect(names(all)).toEqual(["a@7"]);
    });
    test("an answer that comes after its change, and after later ones, changes nothing", () => {
        const all = listed(at("a", 1));
        all.noteAnswer(at("a", 2));
        expect(names(all)).toEqual(["a@2"]);
        all.note("MODIFIED", at("a", 2));
        all.note("MODIFIED", at("a", 3));
        all.publish();
        all.noteAnswer(at("a", 2));
        expect(names(all)).toEqual(["a@3"]);
        all.note("DELETED", at("a", 4));
        all.publish();
        all.noteAnswer(at("a", 5));
        expect(names(all)).toEqual([]);
    });
    test("an answer is newer than a list that was asked for before it", () => {
        const all = listed(at("a", 1));
        all.expectList();
        all.noteAnswer(at("a", 2));
        all.replaceAll([at("a", 1)]);
        expect(names(all)).toEqual(["a@2"]);
    });
    test("a sketch is taken back when the server refuses, unless it has spoken meanwhile", () => {
        const all = listed(at("a", 5));
        const undo = all.sketch("a", () => undefined);
        expect(names(all)).toEqual([]);
        undo();
        expect(names(all)).toEqual(["a@5"]);
        const late = all.sketch("a", (held) => held && { ...held });
        all.note("MODIFIED", at("a", 8));
        late();
        expect(names(all)).toEqual(["a@8"]);
    });
    test("whatever the order of lists and changes, all ends as the server has it", () => {
        let seed = 1;
        const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
        for (let round = 0; round < 300; round++) {
            const all = listed();
            const server = new Map<string, ReturnType<typeof backup>>();
            const stream: [Change, ReturnType<typeof backup>][] = [];
            let list: ReturnType<typeof backup>[] | null = null;
            for (let step = 0; step < 40; step++) {
                const name = "abc"[random(3)]!;
                const held = server.get(name);
                const now = backup(
                    name,
                    {},
                    {},
                    { resourceVersion: `v${random(1e9)}`, uid: held?.metadata.uid ?? `u${round}-${step}` },
                );
                switch (random(5)) {
                    case 0:
                        if (!held) break;
                        server.delete(name);
                        stream.push(["DELETED", held]);
                        break;
                    case 1:
                        server.set(name, now);
                        stream.push([held ? "MODIFIED" : "ADDED", now]);
                        break;
                    case 2:
                        for (const [change, one] of stream.splice(0, 1 + random(3))) all.note(change, one);
                        break;
                    case 3:
                        if (list) break;
                        // What a list shows, the stream has brought before or brings behind it.
                        all.expectList();
                        list = [...server.values()];
                        break;
                    default:
                        if (list) all.replaceAll(list);
                        list = null;
                }
            }
            for (const [change, one] of stream) all.note(change, one);
            if (list) all.replaceAll(list);
            expect(new Map(all.all().map((one) => [one.metadata.name, one]))).toEqual(server);
        }
    });
});

describe("the stream", () => {
    test("events are whole, comments are signs of life, the rest waits", () => {
        const { events, rest } = parseEvents(
            ': still here\n\nid: backups:b7\n\nid: backups:b8\nevent: ADDED\ndata: {"a":1}\n\nid: 8\nevent: MOD',
        );
        expect(events).toEqual([
            { id: "backups:b7", event: "message", data: "" },
            { id: "backups:b8", event: "ADDED", data: '{"a":1}' },
        ]);
        expect(events.map(isChange)).toEqual([false, true]);
        expect(rest).toBe("id: 8\nevent: MOD");
    });
    test("it goes on from the last event, or from a new list when the server has forgotten", () => {
        expect(newest([{ id: "7", event: "ADDED", data: "{}" }], "3")).toBe("7");
        expect(newest([], "3")).toBe("3");
        expect(newest([{ id: "", event: "expired", data: "{}" }], "3")).toBe("");
    });
    test("tries become rarer, and never stop", () =>
        expect([1, 2, 3, 4, 99].map(backOff)).toEqual([300, 1000, 2000, 5000, 5000]));
});

test("lists wait for the stream, but not for ever", async () => {
    const gate = new Gate();
    let passed = 0;
    const waiting = [gate.passed(60_000), gate.passed(60_000)].map((one) => one.then(() => (passed += 1)));
    await gate.passed(1);
    expect(passed).toBe(0);
    gate.open();
    await Promise.all([...waiting, gate.passed(60_000)]);
    gate.close();
    const late = gate.passed(60_000).then(() => "passed");
    expect(await Promise.race([late, gate.passed(1).then(() => "waits")])).toBe("waits");
});

describe("problems", () => {
    test("the server's own sentence is shown, a proxy's page is not", () => {
        expect(problemFrom(409, '{"detail":"taken","hint":"choose another"}').sentence).toBe("taken. choose another");
        expect(problemFrom(502, "<html>Bad Gateway</html>").sentence).toBe("the server answered with status 502");
    });
});

describe("tables", () => {
    test("what has no value comes last both ways", () => {
        const rows = [3, undefined, 1];
        expect(sorted(rows, (row) => row, false)).toEqual([1, 3, undefined]);
        expect(sorted(rows, (row) => row, true)).toEqual([3, 1, undefined]);
    });
    test("numbers in names are numbers", () =>
        expect(sorted(["b10", "b9"], (row) => row, false)).toEqual(["b9", "b10"]));
    test("a sort survives the address", () =>
        expect(readSort(writeSort({ column: "age", down: true }), { column: "x", down: false })).toEqual({
            column: "age",
            down: true,
        }));
    test("every word must be there", () => {
        expect(matchesFilter("nightly shop Completed", "shop comp")).toBe(true);
        expect(matchesFilter("nightly shop", "shop mail")).toBe(false);
    });
    test("a page that does not exist is the nearest that does", () => {
        expect(pageOf([1, 2, 3], 9)).toEqual({ rows: [1, 2, 3], page: 1, pages: 1 });
        expect(pageOf(Array.from({ length: 250 }), 3).rows.length).toBe(50);
    });
    test("only rows in view exist", () => {
        expect(visible(10_000, 36, 36_000, 720)).toEqual([992, 1028]);
        expect(visible(3, 36, 0, 720)).toEqual([0, 3]);
        expect(visible(3, 36, 99_999, 720)).toEqual([3, 3]);
    });
});

describe("a part of the queue", () => {
    const part = (first: number, ...names: string[]): QueuePart => ({
        first,
        rows: names.map((name, at) => ({
            name,
            position: first + at + 1,
            priority: 0,
            reason: "Paused" as const,
            message: "",
        })),
    });
    const told = ({ rows }: QueuePart) => rows.map((one) => `${one.position}${one.name}`);
    test.each([
        ["c", 1, ["1c", "2a", "3b"]],
        ["a", 99, ["1b", "2c", "3a"]],
        ["x", 1, ["1a", "2b", "3c"]],
    ])("after a move of %s to %i the places have no holes and nobody else has passed anybody", (name, to, expected) =>
        expect(told(moved(part(0, "a", "b", "c"), 3, name, to))).toEqual(expected),
    );
    test.each([
        ["d", 1, ["12c", "13e"]],
        ["d", 11, ["11d", "12c", "13e"]],
        ["d", 500, ["11c", "12e"]],
    ])("in the middle of a long queue, too: %s to %i", (name, to, expected) =>
        expect(told(moved(part(10, "c", "d", "e"), 900, name, to))).toEqual(expected),
    );
    test("rows are found by their index, and who has left makes room", () => {
        const here = part(10, "c", "d", "e");
        expect([9, 10, 12, 13].map((index) => rowAt(here, index)?.name)).toEqual([undefined, "c", "e", undefined]);
        const { part: now, left } = stillWaiting(here, (name) => name !== "c");
        expect([now.rows.map(({ name }) => name), left]).toEqual([["d", "e"], 1]);
    });
    test.each([
        [0, 30, 0],
        [170, 200, 0],
        [500, 530, 415],
    ])("what is in view from %i to %i is inside of what is asked for", (from, to, first) =>
        expect(partAround(from, to)).toBe(first),
    );
    test("the end of the queue is held though the view reaches beyond it", () => {
        const end = part(8, "i", "j");
        expect([holds(end, 8, 30, 10), holds(end, 7, 9, 10), holds(end, 8, 30, 11)]).toEqual([true, false, false]);
    });
});

describe("a sentence with a name in it", () => {
    test.each([
        [
            "backup media-1 is running and shares namespace media",
            "media-1",
            "backup ",
            " is running and shares namespace media",
        ],
        ["backup a is ahead in the queue", "a", "backup ", " is ahead in the queue"],
        ["media-1-old and media-1", "media-1", "media-1-old and ", ""],
        ["it waits for b.c.", "b.c", "it waits for ", "."],
    ])("%s: %s is cut out of it", (sentence, name, before, after) =>
        expect(around(sentence, name)).toEqual([before, after]),
    );
    test("that does not name it follows the name", () =>
        expect(around("somebody waits", "x")).toEqual(["", ": somebody waits"]));
});

describe("the times below a timeline", () => {
    const MINUTE = 60_000;
    test.each([
        [17, 5],
        [60, 10],
        [75, 15],
        [600, 120],
        [60 * 24 * 30, 60 * 24 * 5],
    ])("%d minutes have a line every %d", (length, step) => {
        const from = Date.parse("2026-03-10T11:07:31Z");
        const found = roundTimes(from, from + length * MINUTE);
        expect(found[1]! - found[0]!).toBe(step * MINUTE);
        expect(found.every((one) => one >= from && one <= from + length * MINUTE)).toBe(true);
        expect(found.length).toBeGreaterThan(2);
        expect(found.length).toBeLessThan(8);
        expect(new Date(found[0]!).getMinutes() % Math.min(step, 60)).toBe(0);
    });
});

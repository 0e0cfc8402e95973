import { describe, expect, test } from "vitest";
import { command, commands, quote } from "../src/logic/commands";
import { runsOn } from "../src/logic/cron";
import { asClock, asClockToday, asDayClock, asExact, asSeconds, shortTimes } from "../src/logic/moments";
import { bytesInWords, ofVolume } from "../src/logic/job_bytes";
import { bytes, duration, newInStore, percent, rate, relative, span, timeLeft } from "../src/logic/quantities";
import { pastRates, sent, Window } from "../src/logic/rates";
import { toYaml } from "../src/logic/yaml";
import { numbers } from "./build";

describe("quantities read as on the command line", () => {
    test.each([
        [0, "0 B"],
        [1023, "1023 B"],
        [1536, "1.5 KiB"],
        [1048575, "1.0 MiB"],
        [150 * 1024 ** 3, "150 GiB"],
    ])("%d bytes", (count, words) => {
        expect(bytes(count)).toBe(words);
    });
    test.each([
        [0, "0s"],
        [59.9, "59s"],
        [192, "3m12s"],
        [3600, "1h"],
        [7500, "2h5m"],
        [273600, "3d4h"],
        [86_460, "1d"],
        [-5, "0s"],
    ])("%d seconds", (seconds, words) => {
        expect(duration(seconds)).toBe(words);
    });
    test.each([
        [36_499 * 86_400 + 23 * 3600, "100 years"],
        [36_500 * 86_400, "100 years"],
        [89 * 86_400 + 86_000, "90d"],
        [30 * 86_400, "30d"],
        [3 * 365 * 86_400, "3 years"],
        [800 * 86_400, "2 years 2 months"],
    ])("%d seconds as a person says them", (seconds, words) => {
        expect(span(seconds)).toBe(words);
    });
    test.each([
        [
            16_384,
            11,
            "16.0 KiB, more than the 11 B backed up, because a volume is stored in whole blocks, and a tree with a list of its files",
        ],
        [512, 1024, "512 B, 50 % of the 1.0 KiB backed up"],
        [1, 1024, "1 B, less than 1 % of the 1.0 KiB backed up"],
        [0, 1024, "nothing, all of it was there already"],
        [0, 0, "nothing"],
    ])("%d bytes are new of %d", (fresh, size, words) => {
        expect(newInStore(fresh, size)).toBe(words);
    });
    test("what is not known is told as unknown, and a bar never exceeds the whole", () => {
        expect(rate(undefined)).toBe("unknown");
        expect(percent(7, undefined)).toBeUndefined();
        expect(percent(999, 1000)).toBe(99);
        expect(percent(2000, 1000)).toBe(100);
        expect(timeLeft(0, 100, 0)).toBeUndefined();
        expect(timeLeft(0, 1e15, 1)).toBeUndefined();
        expect(timeLeft(50, 100, 10)).toBe(5);
    });
    test("two clocks that differ a little agree on now", () => {
        expect(relative(1000, 3000)).toBe("now");
        expect(relative(0, 10_000)).toBe("10s ago");
        expect(relative(3_600_000, 0)).toBe("in 1h");
    });
});

describe("cron", () => {
    test("where a day of the month and a weekday are given, either is enough", () => {
        const cron = numbers("0 0 13 * 5")!;
        expect(runsOn(cron, new Date("2026-01-13"))).toBe(true);
        expect(runsOn(cron, new Date("2026-01-16"))).toBe(true);
        expect(runsOn(cron, new Date("2026-01-14"))).toBe(false);
    });
    test("else it takes the weekday, the day and the month", () => {
        const cron = { ...numbers("0 0 13 * 5")!, eitherDay: false, months: [2] };
        expect(runsOn(cron, new Date("2026-02-13"))).toBe(true);
        expect(runsOn(cron, new Date("2026-03-13"))).toBe(false);
        expect(runsOn(cron, new Date("2026-02-06"))).toBe(false);
    });
});

describe("times have 24 hours everywhere", () => {
    const evening = new Date(2026, 0, 5, 18, 4, 9);
    test.each([
        ["the clock", asClock(evening), "18:04"],
        ["with seconds", asSeconds(evening), "18:04:09"],
        ["with its day", asDayClock(evening), "18:04"],
        ["exact", asExact(evening), "18:04:09"],
        ["midnight", asClock(new Date(2026, 0, 5)), "00:00"],
    ])("%s", (_, written, part) => {
        expect(written).toContain(part);
        expect(written).not.toMatch(/[AP]M/);
    });
    test("a time of today needs no day", () => {
        expect(asClockToday(evening.toISOString(), evening.getTime() - 3_600_000)).toBe("18:04");
        expect(asClockToday(evening.toISOString(), evening.getTime() + 86_400_000)).toBe(asDayClock(evening));
    });
    test("coming times are hours while they are close together, else days", () => {
        const later = (hours: number) => new Date(evening.getTime() + hours * 3_600_000).toISOString();
        expect(shortTimes([later(0), later(1)])).toEqual(["18:04", "19:04"]);
        expect(shortTimes([later(0), later(48)])).toEqual(["Jan 5", "Jan 7"]);
    });
});

describe("commands", () => {
    test("words that a shell would change are quoted", () => {
        expect(quote("shop,blog")).toBe("shop,blog");
        expect(quote("it's")).toBe("'it'\\''s'");
        expect(commands.set("load-concurrency", '{"globalConfig": 2}')).toBe(
            `tidegate setting set load-concurrency '{"globalConfig": 2}'`,
        );
        expect(commands.set("x", "*")).toBe("tidegate setting set x '*'");
    });
    test("what is empty is left out", () =>
        expect(command("backup", "", false, undefined, 0)).toBe("tidegate backup 0"));
});

test("YAML is read back as what it was, also where a word looks like something else", () => {
    expect(toYaml({ a: "true", b: true, c: ["x", { d: 1, e: [] }], f: {}, g: "a: b", h: "2026", i: "" })).toBe(
        'a: "true"\nb: true\nc:\n- x\n- d: 1\n  e: []\nf: {}\ng: "a: b"\nh: "2026"\ni: ""\n',
    );
});

describe("how far a job is", () => {
    const MIB = 1024 ** 2;
    test.each([
        [{ done: MIB, total: 4 * MIB, volumesNotMeasured: 0 }, "1.0 MiB of 4.0 MiB"],
        [
            { done: MIB, total: 4 * MIB, volumesNotMeasured: 2 },
            "1.0 MiB of at least 4.0 MiB, 2 volumes not measured yet",
        ],
        [{ done: 0, total: 0, volumesNotMeasured: 1 }, "1 volume not measured yet"],
        [{ done: 0, volumesNotMeasured: 0 }, ""],
    ])("%j", (told, words) => {
        expect(bytesInWords(told).amount).toBe(words);
    });
    test("leaves out rate and time left as long as they mean nothing", () => {
        expect(bytesInWords({ done: 0, volumesNotMeasured: 0 })).toEqual({ amount: "", speed: "", left: "" });
        expect(bytesInWords({ done: 0, volumesNotMeasured: 0, bytesPerSecond: 1024, secondsLeft: 90 })).toMatchObject({
            speed: "1.0 KiB/s",
            left: "1m30s left",
        });
    });
    test("a volume counts in bytes of its data, whatever its mover has to look at", () => {
        expect(ofVolume({ bytesDone: 10, totalBytes: 100, size: 1000, bytesPerSecond: 5 }, 7)).toEqual({
            done: 910,
            size: 1000,
            perSecond: 5,
        });
        expect(ofVolume({ bytesDone: 1024, totalBytes: 4096, size: 400, bytesPerSecond: 512 }, undefined)).toEqual({
            done: 100,
            size: 400,
            perSecond: 50,
        });
        expect(ofVolume({ bytesDone: 0 }, 7)).toMatchObject({ done: 0, size: 7 });
        expect(ofVolume({ bytesDone: 3 }, undefined)).toMatchObject({ done: 3 });
    });
});

describe("rates of the past", () => {
    const at = (second: number): string => new Date(second * 1000).toISOString();
    const moved = (from: number, to: number | undefined, bytesDone: number) => ({
        status: {
            startTimestamp: at(from),
            ...(to === undefined ? {} : { completionTimestamp: at(to) }),
            progress: { bytesDone },
        },
    });
    const rates = (...all: ReturnType<typeof moved>[]) => pastRates(all, 0, 60_000, 10_000).map(({ value }) => value);
    test("are the means of those that moved at the moment", () =>
        expect(rates(moved(0, 30, 3000), moved(20, 40, 1000))).toEqual([100, 100, 150, 50, 0, 0]));
    test("of one that still moves go on till now", () =>
        expect(rates(moved(-20, undefined, 8000))).toEqual([100, 100, 100, 100, 100, 100]));
    test("leave out what took no time, and what was over before", () =>
        expect(rates(moved(5, 5.5, 9_000_000), moved(-50, -10, 4000))).toEqual([0, 0, 0, 0, 0, 0]));
    test("of an upload count what it has sent, not what it has only looked at", () => {
        const unchanged = {
            ...moved(0, 30, 9e9),
            status: { ...moved(0, 30, 9e9).status, result: { size: 9e9, newBytes: 3000 } },
        };
        expect(pastRates([unchanged], 0, 60_000, 10_000, sent).map(({ value }) => value)).toEqual([
            100, 100, 100, 0, 0, 0,
        ]);
        expect(pastRates([moved(0, undefined, 6000)], 0, 60_000, 30_000, sent).map(({ value }) => value)).toEqual([
            100, 100,
        ]);
    });
    test("stand before what was seen", () => {
        const seen = new Window(600_000);
        seen.add(30_000, 7);
        seen.begin(pastRates([moved(0, undefined, 0)], 0, 60_000, 10_000));
        expect(seen.samples.map((one) => one.at)).toEqual([0, 10_000, 20_000, 30_000]);
    });
});

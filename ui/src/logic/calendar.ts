// A week of coming runs, hour by hour: where schedules pile up.

import type { CronNumbers, Schedule } from "../api/types";
import { type Numbers, runsOn } from "./cron";

export type Kind = "backup" | "system backup" | "verification";
export type Planned = { schedule: string; kind: Kind; runs: number };
export type Hour = { runs: number; planned: Planned[] };
export type Day = { date: Date; hours: Hour[] };

const QUARTER_MS = 900_000;
const DAYS = 7;

type Wall = { day: Date; hour: number; minute: number };

function formatIn(zone: string): Intl.DateTimeFormat {
    const fields = {
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
    } as const;
    try {
        return new Intl.DateTimeFormat("en-US", { ...fields, timeZone: zone });
    } catch {
        return new Intl.DateTimeFormat("en-US", { ...fields, timeZone: "UTC" }); // the server knows zones that we do not
    }
}

/** What the clock on the wall shows in a zone at each of these moments. */
function wallTimes(zone: string, moments: readonly number[]): Wall[] {
    const format = formatIn(zone);
    return moments.map((moment) => {
        const parts = new Map(format.formatToParts(moment).map((part) => [part.type, Number(part.value)]));
        const at = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
        return {
            day: new Date(Date.UTC(at("year"), at("month") - 1, at("day"))),
            hour: at("hour"),
            minute: at("minute"),
        };
    });
}

const runsIn = (cron: CronNumbers, wall: Wall): number =>
    cron.hours.includes(wall.hour) && runsOn(cron, wall.day)
        ? cron.minutes.filter((minute) => minute >= wall.minute && minute < wall.minute + 15).length
        : 0;

/** Each schedule's own times, and those of its verifications; paused ones plan nothing. */
type Plan = { schedule: string; kind: Kind; zone: string; cron: CronNumbers };

function plans(schedules: readonly Schedule[], numbers: Numbers): Plan[] {
    return schedules
        .filter((one) => !one.spec.paused)
        .flatMap(({ metadata, spec }) => {
            const wanted: [Kind, string | undefined][] = [
                [spec.systemBackup ? "system backup" : "backup", spec.schedule],
                ["verification", spec.verification?.schedule],
            ];
            return wanted.flatMap(([kind, text]) => {
                const cron = text ? numbers(text) : undefined;
                return cron ? [{ schedule: metadata.name, kind, zone: spec.timezone, cron }] : [];
            });
        });
}

/** Seven days from the one that `now` is in, in local time. Every moment is looked at in the zone of each schedule. */
export function calendar(schedules: readonly Schedule[], now: number, numbers: Numbers): Day[] {
    const first = new Date(now);
    first.setHours(0, 0, 0, 0);
    const days: Day[] = Array.from({ length: DAYS }, (_, index) => ({
        date: new Date(first.getFullYear(), first.getMonth(), first.getDate() + index),
        hours: Array.from({ length: 24 }, () => ({ runs: 0, planned: [] })),
    }));
    const end = new Date(first.getFullYear(), first.getMonth(), first.getDate() + DAYS).getTime();
    const moments: number[] = [];
    for (let moment = first.getTime(); moment < end; moment += QUARTER_MS) moments.push(moment);
    const cells = moments.map((moment) => {
        const local = new Date(moment);
        const day = days.findLast((one) => one.date.getTime() <= moment);
        return day!.hours[local.getHours()]!;
    });
    const walls = new Map<string, Wall[]>();
    for (const { schedule, kind, zone, cron } of plans(schedules, numbers)) {
        const seen = walls.get(zone) ?? wallTimes(zone, moments);
        walls.set(zone, seen);
        seen.forEach((wall, index) => {
            const runs = runsIn(cron, wall);
            if (runs) note(cells[index]!, schedule, kind, runs);
        });
    }
    return days;
}

function note(hour: Hour, schedule: string, kind: Kind, runs: number): void {
    hour.runs += runs;
    const known = hour.planned.find((one) => one.schedule === schedule && one.kind === kind);
    if (known) known.runs += runs;
    else hour.planned.push({ schedule, kind, runs });
}

/** How dark a cell is: four steps up to the fullest hour of the week. */
export const level = (runs: number, most: number): number =>
    runs === 0 ? 0 : Math.max(1, Math.ceil((runs * 4) / most));

export type Busy = Hour & { at: Date };

/** The hours in which most begins, the fullest first; one run alone is no pile-up. */
export function pileUps(days: readonly Day[], most = 5): Busy[] {
    return days
        .flatMap((day) =>
            day.hours.map((hour, index) => {
                const { date } = day;
                return {
                    ...hour,
                    at: new Date(date.getFullYear(), date.getMonth(), date.getDate(), index),
                };
            }),
        )
        .filter((hour) => hour.planned.length > 1)
        .sort((a, b) => b.runs - a.runs || a.at.getTime() - b.at.getTime())
        .slice(0, most);
}

export const kindsOf = (schedule: Schedule): Kind[] => [
    schedule.spec.systemBackup ? "system backup" : "backup",
    ...(schedule.spec.verification ? (["verification"] as const) : []),
];

// Thirty days of one schedule, one word per day.

import type { Metadata, Schedule, SystemBackup } from "../api/types";
import { type Numbers, runsOn } from "./cron";
import { holdsNothing, wentWrong } from "./protection";
import { plural, time } from "./quantities";

export type Day = { date: string; state: "ok" | "late" | "failed" | "missed" | "running" | "none"; words: string };

/** What a schedule made; a Backup is one as it is. */
export type Run = {
    metadata: Pick<Metadata, "creationTimestamp" | "labels">;
    status: {
        phase: string;
        startTimestamp?: string;
        completionTimestamp?: string;
        conditions?: readonly { type: string }[];
    };
};

/** A system backup told in the words of a backup. */
export const runOf = ({ metadata, status }: SystemBackup): Run => ({
    metadata,
    status: {
        phase: status.phase === "Error" ? "Failed" : status.phase,
        ...(status.startTimestamp ? { startTimestamp: status.startTimestamp } : {}),
        ...(status.completionTimestamp ? { completionTimestamp: status.completionTimestamp } : {}),
    },
});

const DAY_MS = 86_400_000;
const LATE_MS = 3_600_000;
export const DAYS_SHOWN = 30;

/** The day in the schedule's own zone: a run at 00:30 in Berlin is not yesterday's. */
function dayIn(zone: string): (moment: number) => string {
    let format: Intl.DateTimeFormat;
    try {
        format = new Intl.DateTimeFormat("en-CA", {
            timeZone: zone,
            year: "numeric",
            month: "2-digit",
            day: "2-digit",
        });
    } catch {
        format = new Intl.DateTimeFormat("en-CA", {
            timeZone: "UTC",
            year: "numeric",
            month: "2-digit",
            day: "2-digit",
        });
    }
    return (moment) => format.format(moment);
}

function judge(runs: readonly Run[]): Pick<Day, "state" | "words"> {
    const count = plural(runs.length, "backup");
    const failed = runs.filter(wentWrong).length;
    if (failed) return { state: "failed", words: `${failed} of ${count} failed` };
    if (runs.every(holdsNothing)) return { state: "none", words: `${count}, nothing was there to back up` };
    if (runs.some((run) => run.status.completionTimestamp === undefined))
        return { state: "running", words: `${count}, not all over yet` };
    const late = runs.some((run) => {
        const made = time(run.metadata.creationTimestamp) ?? 0;
        return (time(run.status.startTimestamp) ?? made) - made > LATE_MS;
    });
    return late
        ? { state: "late", words: `${count}, begun more than an hour late` }
        : { state: "ok", words: `${count}, all well` };
}

/** Oldest first. A day is missed only where a run was due, the schedule existed, and retention cannot have removed it. */
export function strip(schedule: Schedule, backups: readonly Run[], now: number, numbers: Numbers): Day[] {
    const dayOf = dayIn(schedule.spec.timezone);
    const byDay = new Map<string, Run[]>();
    for (const backup of backups) {
        const day = dayOf(time(backup.metadata.creationTimestamp) ?? 0);
        const runs = byDay.get(day);
        if (runs) runs.push(backup);
        else byDay.set(day, [backup]);
    }
    const cron = numbers(schedule.spec.schedule);
    const born = dayOf(time(schedule.metadata.creationTimestamp) ?? now);
    const today = dayOf(now);
    const mayBeGone = schedule.spec.retention !== undefined;
    const days: Day[] = [];
    for (let n = DAYS_SHOWN - 1; n >= 0; n--) {
        const date = dayOf(now - n * DAY_MS);
        const runs = byDay.get(date);
        if (runs) {
            days.push({ date, ...judge(runs) });
            continue;
        }
        const due = cron !== undefined && runsOn(cron, new Date(`${date}T00:00:00Z`));
        const missed = due && !schedule.spec.paused && date > born && date < today && !mayBeGone;
        days.push({
            date,
            state: missed ? "missed" : "none",
            words: missed ? "no backup was made" : "nothing recorded",
        });
    }
    return days;
}

// What ran in the last hour, what runs, and when the others will probably run: bars on one axis.

import type { Backup, Queue, Workload } from "../api/types";
import { wentWrong } from "./protection";
import { time } from "./quantities";

export type TimelineBar = { name: string; from: number; to: number; kind: "done" | "failed" | "running" | "forecast" };

const HOUR_MS = 3_600_000;
// Where nothing is known the server assumes five minutes, too.
const UNKNOWN_MS = 300_000;
export const MOST_BARS = 14;

/** Oldest start first; the newest past ones and the next coming ones, at most MOST_BARS. */
export function timeline(
    backups: readonly Backup[],
    queue: Queue,
    workload: Workload | null,
    now: number,
): TimelineBar[] {
    const lengths = new Map(workload?.backups.map((one) => [one.name, one.duration * 1000]));
    const running = new Set(queue.running);
    const past: TimelineBar[] = [];
    const present: TimelineBar[] = [];
    for (const backup of backups) {
        const name = backup.metadata.name;
        const from = time(backup.status.startTimestamp);
        const end = time(backup.status.completionTimestamp);
        if (from === undefined) continue;
        if (running.has(name)) present.push({ name, from, to: now + (lengths.get(name) ?? 0), kind: "running" });
        else if (end !== undefined && now - end < HOUR_MS)
            past.push({ name, from, to: end, kind: wentWrong(backup) ? "failed" : "done" });
    }
    const coming = queue.waiting.flatMap((row): TimelineBar[] => {
        const from = time(row.expectedStart);
        return from === undefined
            ? []
            : [
                  {
                      name: row.name,
                      from: Math.max(from, now),
                      to: Math.max(from, now) + (lengths.get(row.name) ?? UNKNOWN_MS),
                      kind: "forecast",
                  },
              ];
    });
    const byStart = (a: TimelineBar, b: TimelineBar) => a.from - b.from;
    const room = MOST_BARS - Math.min(present.length, MOST_BARS);
    const future = coming.sort(byStart).slice(0, Math.max(room - Math.min(past.length, Math.floor(room / 2)), 0));
    const recent = past.sort(byStart).slice(-Math.max(room - future.length, 0) || past.length);
    return [...recent, ...present.sort(byStart).slice(0, MOST_BARS), ...future];
}

const STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 240, 720, 1440].map((minutes) => minutes * 60_000);

/** Round times of day between two moments, some six of them; local, so that hours are whole where clocks are half an hour off. */
export function roundTimes(from: number, to: number, wanted = 6): number[] {
    const step =
        STEPS_MS.find((one) => (to - from) / one <= wanted) ??
        Math.ceil((to - from) / wanted / STEPS_MS.at(-1)!) * STEPS_MS.at(-1)!;
    const shift = new Date(from).getTimezoneOffset() * 60_000;
    const first = Math.ceil((from - shift) / step) * step + shift;
    return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, n) => first + n * step);
}

/** From the earliest bar of the last hour to the end of the last one; at least ten minutes on both sides of now. */
export function span(bars: readonly TimelineBar[], now: number): [number, number] {
    const from = Math.max(now - HOUR_MS, Math.min(now - HOUR_MS / 6, ...bars.map((bar) => bar.from)));
    return [from, Math.max(now + HOUR_MS / 6, ...bars.map((bar) => bar.to))];
}

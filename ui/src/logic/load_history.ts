// How many transfers were prepared and moved over the last hour: told by their own times, so a page that was just
// opened knows it too.

import { time } from "./quantities";

type Timed = {
    status: {
        phase: string;
        acceptedTimestamp?: string;
        startTimestamp?: string;
        completionTimestamp?: string;
    };
};

export type History = { times: number[]; moving: number[]; preparing: number[] };

const FINAL: ReadonlySet<string> = new Set(["Completed", "Failed", "Canceled"]);

/** Counts at `steps` moments of the last `span` milliseconds, the last of them now; times in seconds, as plots want. */
export function loadHistory(transfers: readonly Timed[], now: number, span = 3_600_000, steps = 240): History {
    const begin = now - span;
    const each = span / steps;
    // What begins adds one from its step on, what ends takes one away: one pass over the transfers, one over the steps.
    const moving = new Array<number>(steps + 2).fill(0);
    const preparing = new Array<number>(steps + 2).fill(0);
    const mark = (line: number[], from: number, to: number): void => {
        if (to < begin || from > now) return;
        const first = Math.max(0, Math.ceil((from - begin) / each));
        const last = Math.max(first, Math.min(steps + 1, Math.ceil((to - begin) / each)));
        line[first]! += 1;
        // One that was over between two moments is still shown at the next one.
        line[Math.min(steps + 1, Math.max(last, first + 1))]! -= 1;
    };
    for (const { status } of transfers) {
        const over = FINAL.has(status.phase);
        const ended = time(status.completionTimestamp) ?? (over ? begin - 1 : Number.POSITIVE_INFINITY);
        const accepted = time(status.acceptedTimestamp);
        const started = time(status.startTimestamp);
        if (accepted !== undefined) mark(preparing, accepted, Math.min(started ?? ended, ended));
        if (started !== undefined) mark(moving, started, ended);
    }
    const sums = (line: number[]): number[] => {
        let sum = 0;
        return line.slice(0, steps + 1).map((change) => (sum += change));
    };
    return {
        times: Array.from({ length: steps + 1 }, (_, index) => (begin + index * each) / 1000),
        moving: sums(moving),
        preparing: sums(preparing),
    };
}

// What a running transfer tells over time: a rate that can be drawn, a mean, and whether it stands still.

import type { Condition } from "../api/types";
import { time } from "./quantities";

export type Sample = { at: number; value: number };

/** A window of samples; older ones are dropped, so a page that is open for weeks does not grow. */
export class Window {
    readonly samples: Sample[] = [];

    constructor(private readonly lengthMs: number) {}

    /** What was before the first of them. */
    begin(earlier: readonly Sample[]): void {
        const first = this.samples[0]?.at ?? Number.POSITIVE_INFINITY;
        this.samples.unshift(...earlier.filter(({ at }) => at < first));
    }

    add(at: number, value: number): void {
        this.samples.push({ at, value });
        let old = 0;
        while (old < this.samples.length && at - (this.samples[old]?.at ?? 0) > this.lengthMs) old++;
        if (old) this.samples.splice(0, old);
    }
}

type Moved = {
    status: {
        startTimestamp?: string;
        completionTimestamp?: string;
        progress?: { bytesDone: number };
        result?: { size: number; newBytes?: number };
    };
};

/** What an upload has sent. What it only looked at is no load of the store, and much more at times. */
export const sent = ({ status }: Moved): number => status.result?.newBytes ?? status.progress?.bytesDone ?? 0;
/** What a download has brought. */
export const brought = ({ status }: Moved): number => status.progress?.bytesDone ?? status.result?.size ?? 0;

/** What the records tell of the time before anybody looked: each transfer at its mean rate, from its start to its end. */
export function pastRates(
    transfers: readonly Moved[],
    from: number,
    to: number,
    stepMs: number,
    moved: (one: Moved) => number = brought,
): Sample[] {
    const means = transfers.flatMap((one) => {
        const { status } = one;
        const begin = time(status.startTimestamp);
        const end = time(status.completionTimestamp) ?? to;
        // What was over within a blink has no rate that can be drawn.
        return begin === undefined || end < from || end - begin < 1000
            ? []
            : [{ begin, end, rate: (moved(one) * 1000) / (end - begin) }];
    });
    const count = Math.max(0, Math.floor((to - from) / stepMs));
    return Array.from({ length: count }, (_, n) => {
        const at = from + n * stepMs;
        const value = means.reduce((sum, one) => (one.begin <= at && at < one.end ? sum + one.rate : sum), 0);
        return { at, value };
    });
}

/** Bytes per second over the whole run. */
export function meanRate(done: number, startedAt: number | undefined, now: number): number | undefined {
    const seconds = startedAt === undefined ? 0 : (now - startedAt) / 1000;
    return seconds >= 1 ? done / seconds : undefined;
}

export const STALL_MS = 30_000;

/** Milliseconds without progress if it stalls: by the server's word, or by what the page has seen itself. */
export function stalledFor(conditions: readonly Condition[], seen: number, now: number): number | undefined {
    const told = conditions.find(({ type, status }) => type === "Stalled" && status === "True");
    if (!told) return seen > STALL_MS ? seen : undefined;
    return Math.max(seen, now - (time(told.lastTransitionTime) ?? now));
}

/** When each thing last moved on; nothing said for STALL_MS while it should move is a stall. */
export class StallWatch {
    private readonly last = new Map<string, { done: number; at: number }>();

    /** Milliseconds without progress. */
    note(key: string, done: number, now: number): number {
        const known = this.last.get(key);
        if (!known || known.done !== done) {
            this.last.set(key, { done, at: now });
            return 0;
        }
        return now - known.at;
    }

    keepOnly(keys: ReadonlySet<string>): void {
        for (const key of this.last.keys()) if (!keys.has(key)) this.last.delete(key);
    }
}

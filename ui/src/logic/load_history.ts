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

type Stay = [from: number, to: number];

/** The most that were there at once in each of `steps` stretches of the last `span` milliseconds; times in seconds, as
 * plots want. What follows one upon the other within a stretch was never there together. */
export function loadHistory(transfers: readonly Timed[], now: number, span = 3_600_000, steps = 240): History {
    const begin = now - span;
    const moving: Stay[] = [];
    const preparing: Stay[] = [];
    for (const { status } of transfers) {
        const over = FINAL.has(status.phase);
        const ended = time(status.completionTimestamp) ?? (over ? begin - 1 : Number.POSITIVE_INFINITY);
        const accepted = time(status.acceptedTimestamp);
        const started = time(status.startTimestamp);
        if (accepted !== undefined) preparing.push([accepted, Math.min(started ?? ended, ended)]);
        if (started !== undefined) moving.push([started, ended]);
    }
    const moments = Array.from({ length: steps + 1 }, (_, index) => begin + (index * span) / steps);
    return {
        times: moments.map((moment) => moment / 1000),
        moving: peaks(moving, moments),
        preparing: peaks(preparing, moments),
    };
}

/** The highest count since the moment before. */
function peaks(stays: readonly Stay[], moments: readonly number[]): number[] {
    const [first = 0] = moments;
    const seen = stays.filter(([from, to]) => to >= first && to > from);
    const comes = seen.map(([from]) => from).sort((a, b) => a - b);
    const goes = seen.map(([, to]) => to).sort((a, b) => a - b);
    let [come, go, count] = [0, 0, 0];
    return moments.map((moment) => {
        let most = count;
        while (come < comes.length && comes[come]! <= moment) {
            // Who goes at the moment when another comes has made room for it.
            while (goes[go]! <= comes[come]!) [go, count] = [go + 1, count - 1];
            [come, count] = [come + 1, count + 1];
            most = Math.max(most, count);
        }
        while (go < goes.length && goes[go]! <= moment) [go, count] = [go + 1, count - 1];
        return most;
    });
}

// What the page has seen over time. The server keeps no history of rates: what was before the page was opened is drawn
// from the records of transfers, at their mean rates.

import { effect, signal, untracked } from "@preact/signals";
import { pastRates, sent, StallWatch, Window } from "../logic/rates";
import { keyOf } from "./collection";
import { downloads, type Transfer, transfersDown, transfersUp, uploads } from "./resources";

const RATE_EVERY_MS = 2000;

const TEN_MINUTES_MS = 600_000;
const PAST_STEP_MS = 2000;

export const up = new Window(TEN_MINUTES_MS);
export const down = new Window(TEN_MINUTES_MS);
let remembered = false;
export const sampled = signal(0);

const stalls = new StallWatch();
const standing = new Map<string, number>();

export const isMoving = (one: Transfer): boolean =>
    one.status.phase === "InProgress" || one.status.phase === "Canceling";
/** Milliseconds without progress. */
export const standsFor = (one: Transfer): number => standing.get(keyOf(one)) ?? 0;

const total = (all: Transfer[]): number =>
    all.filter(isMoving).reduce((sum, one) => sum + (one.status.progress?.bytesPerSecond ?? 0), 0);

function sample(): void {
    const now = Date.now();
    if (!remembered) {
        // Nothing is known yet; that nothing moves would be another thing.
        if (!allLoaded()) return;
        remembered = true;
        up.begin(pastRates(transfersUp(), now - TEN_MINUTES_MS, now, PAST_STEP_MS, sent));
        down.begin(pastRates(transfersDown(), now - TEN_MINUTES_MS, now, PAST_STEP_MS));
    }
    const ups = transfersUp();
    const downs = transfersDown();
    up.add(now, total(ups));
    down.add(now, total(downs));
    const active = [...ups, ...downs].filter(isMoving);
    for (const one of active)
        standing.set(keyOf(one), stalls.note(keyOf(one), one.status.progress?.bytesDone ?? 0, now));
    stalls.keepOnly(new Set(active.map(keyOf)));
    sampled.value += 1;
}

const allLoaded = (): boolean => [...uploads, ...downloads].every((kind) => kind.loaded.value);

let started = false;

export function startSampling(): void {
    if (started) return;
    started = true;
    // The first sample, and with it the past, comes with the records: a plot that is empty for a while tells that nothing moves.
    effect(() => {
        if (allLoaded()) untracked(sample);
    });
    setInterval(sample, RATE_EVERY_MS);
}

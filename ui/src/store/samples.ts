// What the page has seen over time: the server keeps no history of rates, so plots begin when the page was opened.

import { signal } from "@preact/signals";
import { StallWatch, Window } from "../logic/rates";
import { keyOf } from "./collection";
import { type Transfer, transfersDown, transfersUp } from "./resources";

const RATE_EVERY_MS = 2000;

export const up = new Window(600_000);
export const down = new Window(600_000);
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

let started = false;

export function startSampling(): void {
    if (started) return;
    started = true;
    sample();
    setInterval(sample, RATE_EVERY_MS);
}

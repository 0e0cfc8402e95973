// The queue as the server tells it: order, reasons and forecast. Asked for anew when something in it has changed.

import { effect, signal } from "@preact/signals";
import { call, get, pathOf } from "../api/client";
import type { Backup, Queue, Workload } from "../api/types";
import { backups, noteAnswer, settings, targets } from "./resources";

export const queue = signal<Queue | null>(null);
export const workload = signal<Workload | null>(null);

// A long queue costs the server time: it is asked at most for a quarter of the time.
const LEAST_MS = 500;
const SHARE = 4;
// Beyond this a forecast of each is nothing that anybody reads.
const FORECAST_MOST = 500;

let watchers = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let cost = 0;
let lastAsked = 0;
let asking = false;
let again = false;

async function ask(): Promise<void> {
    if (asking) {
        again = true;
        return;
    }
    asking = true;
    const begun = performance.now();
    try {
        const found = await get<Queue>("/v1/queue");
        queue.value = found;
        workload.value = found.waiting.length <= FORECAST_MOST ? await get<Workload>("/v1/queue-workload") : null;
    } catch {
        // the banner tells that the server is away; the stream brings the next change
    }
    lastAsked = performance.now();
    cost = lastAsked - begun;
    asking = false;
    if (again) schedule();
    again = false;
}

function schedule(): void {
    if (timer !== undefined) return;
    const wait = Math.max(LEAST_MS, cost * SHARE) - (performance.now() - lastAsked);
    timer = setTimeout(
        () => {
            timer = undefined;
            void ask();
        },
        Math.max(0, wait),
    );
}

/** Keep it fresh until what is returned is called. */
export function watchQueue(): () => void {
    watchers += 1;
    const stop = effect(() => {
        backups.version.value;
        settings.version.value;
        targets.version.value;
        schedule();
    });
    return () => {
        stop();
        watchers -= 1;
        if (watchers === 0) clearTimeout(timer);
        if (watchers === 0) timer = undefined;
    };
}

/** The order after one backup has been moved; positions stay 1..n. */
export function moved(now: Queue, name: string, to: number): Queue {
    const row = now.waiting.find((one) => one.name === name);
    if (!row) return now;
    const rest = now.waiting.filter((one) => one !== row);
    rest.splice(Math.min(Math.max(to, 1), now.waiting.length) - 1, 0, row);
    return { ...now, waiting: rest.map((one, index) => ({ ...one, position: index + 1 })) };
}

export async function moveBackup(name: string, to: number): Promise<void> {
    const before = queue.value;
    if (before) queue.value = moved(before, name, to);
    try {
        noteAnswer(await call<Backup>("POST", `${pathOf("queue", name)}/move`, { to }));
    } catch (error) {
        if (queue.value && before) queue.value = before;
        throw error;
    }
    schedule();
}

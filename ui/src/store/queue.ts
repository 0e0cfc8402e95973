// The queue as the server tells it: order, reasons and forecast.

import { signal } from "@preact/signals";
import { call, get, pathOf } from "../api/client";
import type { Backup, Queue, Workload } from "../api/types";
import { Asked } from "./asked";
import { backups, noteAnswer, settings, targets } from "./resources";

export const queue = signal<Queue | null>(null);
export const workload = signal<Workload | null>(null);

// Beyond this a forecast of each is nothing that anybody reads.
const FORECAST_MOST = 500;
// More than a screen holds: the first rows are shown before the last are told.
const FIRST_ROWS = 200;

async function ask(): Promise<void> {
    if (queue.value === null) queue.value = await get<Queue>(`/v1/queue?limit=${FIRST_ROWS}`);
    const found = await get<Queue>("/v1/queue");
    queue.value = found;
    workload.value = found.waiting.length <= FORECAST_MOST ? await get<Workload>("/v1/queue-workload") : null;
}

const asked = new Asked(ask, () => {
    backups.version.value;
    settings.version.value;
    targets.version.value;
});

/** How many wait, those included that are not told yet. */
export const waitingCount = (found: Queue): number => found.waitingCount ?? found.waiting.length;

export const watchQueue = (): (() => void) => asked.watch();

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
    asked.soon();
}

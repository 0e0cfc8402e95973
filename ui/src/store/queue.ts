// The queue as the server tells it: order, reasons and forecast. Of a long one, the head and what is in view.

import { batch, signal } from "@preact/signals";
import { call, get, pathOf } from "../api/client";
import type { Backup, Queue, Workload } from "../api/types";
import { holds, moved, PART_ROWS, partAround, type QueuePart } from "../logic/queue_part";
import { Asked } from "./asked";
import { backups, noteAnswer, settings, targets } from "./resources";

/** Limit, who runs, how many wait, and the first of these. */
export const queue = signal<Queue | null>(null);
/** Those that are looked at. */
export const inView = signal<QueuePart>({ first: 0, rows: [] });
export const workload = signal<Workload | null>(null);

// Beyond this a forecast of each is nothing that anybody reads.
const FORECAST_MOST = 500;
// More than the timeline has bars.
const HEAD_ROWS = 20;
// Whoever drags the scroll bar passes by many.
const QUIET_MS = 50;

let view: [number, number] = [0, 1];
let everything = false;
/** Counts when a move is asked for and when it is answered: what was asked for before may tell of the old order. */
let moves = 0;

async function ask(): Promise<void> {
    const movesBefore = moves;
    const first = everything ? 0 : partAround(...view);
    const [head, part] = await Promise.all([
        get<Queue>(everything ? "/v1/queue" : `/v1/queue?limit=${first ? HEAD_ROWS : PART_ROWS}`),
        first ? get<Queue>(`/v1/queue?limit=${PART_ROWS}&skip=${first}`) : null,
    ]);
    if (moves !== movesBefore) {
        asked.soon();
        return;
    }
    batch(() => {
        queue.value = head;
        inView.value = { first: part ? first : 0, rows: (part ?? head).waiting };
    });
    workload.value = waitingCount(head) <= FORECAST_MOST ? await get<Workload>("/v1/queue-workload") : null;
}

const asked = new Asked(ask, () => {
    backups.version.value;
    settings.version.value;
    targets.version.value;
});

/** How many wait, those included that are not told yet. */
export const waitingCount = (found: Queue): number => found.waitingCount ?? found.waiting.length;

export const watchQueue = (): (() => void) => asked.watch();

let resting: ReturnType<typeof setTimeout> | undefined;

/** These rows are looked at now: what is not held is asked for where scrolling rests. */
export function lookAt(from: number, to: number): void {
    view = [from, to];
    clearTimeout(resting);
    const total = queue.value ? waitingCount(queue.value) : 0;
    if (!everything && !holds(inView.value, from, to, total)) resting = setTimeout(() => asked.atOnce(), QUIET_MS);
}

/** A filter looks at all that wait. */
export function lookAtAll(wanted: boolean): void {
    if (everything === wanted) return;
    everything = wanted;
    asked.atOnce();
}

export async function moveBackup(name: string, to: number): Promise<void> {
    const before = inView.value;
    const total = queue.value ? waitingCount(queue.value) : 0;
    const drawn = (inView.value = moved(before, total, name, to));
    moves += 1;
    try {
        noteAnswer(await call<Backup>("POST", `${pathOf("queue", name)}/move`, { to }));
    } catch (error) {
        if (inView.value === drawn) inView.value = before;
        throw error;
    } finally {
        moves += 1;
        asked.soon();
    }
}

// The connection: follows the event stream, says how fresh the page is, and comes back by itself.

import { batch, signal } from "@preact/signals";
import { Problem } from "../api/client";
import { follow, type StreamEvent } from "../api/stream";
import type { AnyResource, Change } from "./collection";
import { applyChanges, PLURALS, streamClosed, streamOpened } from "./resources";

export type Connection = { state: "connecting" | "live" } | { state: "lost"; since: number; reason: string };

export const connection = signal<Connection>({ state: "connecting" });

let stillIn: () => Promise<boolean> = async () => false;

/**
 * Whom to ask whether the server is still there and lets us in: when it has ended the stream, because it ends it with our
 * role, and when it has opened one, because it tells nobody of a role that changed before.
 */
export function whenOpenedOrEnded(ask: () => Promise<boolean>): void {
    stillIn = ask;
}

const RETRY_MS = [300, 1000, 2000, 5000];

let running = 0;

export const backOff = (failures: number): number => RETRY_MS[Math.min(failures, RETRY_MS.length) - 1] ?? 0;

function lose(reason: string): void {
    const now = connection.value;
    connection.value = { state: "lost", since: now.state === "lost" ? now.since : Date.now(), reason };
}

const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

type Delta = { change: Change; resource: AnyResource };
let waiting: Delta[] = [];
let drawing = false;

// Of the time at most a third is spent on drawing changes, whatever one drawing costs; the rest is the user's.
const SHARE = 2;
let drawnAt = -Infinity;
let cost = 0;

/** Many changes in one frame are one drawing: 10,000 rows are not looked through once per event. */
function take(deltas: Delta[]): void {
    waiting.push(...deltas);
    if (drawing) return;
    drawing = true;
    // A hidden page gets no frames, and must not grow a backlog.
    if (document.hidden) setTimeout(draw, 1000);
    else setTimeout(() => requestAnimationFrame(draw), Math.max(0, drawnAt + cost * SHARE - performance.now()));
}

function draw(): void {
    const now = waiting;
    waiting = [];
    drawing = false;
    const begun = performance.now();
    batch(() => applyChanges(now));
    // Components are drawn behind this, in the same turn of the loop.
    setTimeout(() => {
        drawnAt = performance.now();
        cost = drawnAt - begun;
    });
}

/** Run until `stop` or another `start`. */
export async function start(): Promise<void> {
    const mine = ++running;
    let position = "";
    let failures = 0;
    while (mine === running) {
        try {
            const fresh = position === "";
            await follow({
                kinds: PLURALS,
                position,
                onOpen: () => {
                    failures = 0;
                    connection.value = { state: "live" };
                    void stillIn();
                    streamOpened(fresh);
                },
                onEvents: (events) => {
                    position = newest(events, position);
                    take(events.filter(isChange).map(delta));
                },
            });
            streamClosed();
            const welcome = mine === running && (await stillIn());
            if (mine === running && !welcome) lose("the server closed the connection");
        } catch (error) {
            streamClosed();
            const status = error instanceof Problem ? error.status : 0;
            // A session that is over stops us; one that was renewed meanwhile goes on.
            const welcome = status === 401 && (await stillIn());
            if (mine !== running) return;
            // A position that the server does not understand is from another version of it.
            if (status >= 400 && status !== 401) position = "";
            if (!welcome) lose(error instanceof Problem ? error.message : String(error));
        }
        failures += 1;
        if (failures > 1) await pause(backOff(failures));
    }
}

export function stop(): void {
    running += 1;
    connection.value = { state: "connecting" };
}

/** From where to go on; nothing if the server no longer keeps what came after it. */
export function newest(events: readonly StreamEvent[], position: string): string {
    const last = events.at(-1);
    if (last?.event === "expired") return "";
    return last?.id || position;
}

export const isChange = ({ event }: StreamEvent): boolean => ["ADDED", "MODIFIED", "DELETED"].includes(event);

const delta = (event: StreamEvent): Delta => ({
    change: event.event as Change,
    resource: JSON.parse(event.data) as AnyResource,
});

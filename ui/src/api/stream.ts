// The event stream, read by hand: a plain EventSource hides the server's signs of life and the reason of a refusal.

import { Problem, request } from "./client";

/** `id` is where to resume behind it; the first one of a stream has nothing else. */
export type StreamEvent = { id: string; event: string; data: string };

/** Whole events out of what has come so far, and the rest that still waits for its end. */
export function parseEvents(text: string): { events: StreamEvent[]; rest: string } {
    const parts = text.split("\n\n");
    const rest = parts.pop() ?? "";
    const events: StreamEvent[] = [];
    for (const part of parts) {
        const found: StreamEvent = { id: "", event: "message", data: "" };
        for (const line of part.split("\n")) {
            const colon = line.indexOf(":");
            if (colon <= 0) continue; // a comment: a sign of life
            const value = line.slice(colon + 1).replace(/^ /, "");
            const field = line.slice(0, colon);
            if (field === "id") found.id = value;
            else if (field === "event") found.event = value;
            else if (field === "data") found.data += value;
        }
        if (found.id || found.data) events.push(found);
    }
    return { events, rest };
}

// The server says something every 15 seconds; whoever is silent for much longer is gone, whatever TCP believes.
const SILENCE_MS = 40_000;

export type Follower = {
    kinds: string[];
    /** Where to go on; empty: now. */
    position: string;
    onOpen: () => void;
    onEvents: (events: StreamEvent[]) => void;
};

/** Follow until the stream ends, for whatever reason; resolves then, or rejects with a Problem. */
export async function follow({ kinds, position, onOpen, onEvents }: Follower): Promise<void> {
    const abort = new AbortController();
    const since = position && `&since=${encodeURIComponent(position)}`;
    const path = `/v1/events?kinds=${kinds.join(",")}${since}`;
    let watchdog = setTimeout(() => abort.abort(), SILENCE_MS);
    try {
        const answer = await request("GET", path, { signal: abort.signal });
        const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
        onOpen();
        let waiting = "";
        for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            clearTimeout(watchdog);
            watchdog = setTimeout(() => abort.abort(), SILENCE_MS);
            const { events, rest } = parseEvents(waiting + value);
            waiting = rest;
            if (events.length) onEvents(events);
        }
    } catch (error) {
        // A connection that breaks in the middle is an end like any other; a refusal is news.
        if (error instanceof Problem || (!(error instanceof TypeError) && !abort.signal.aborted)) throw error;
    } finally {
        clearTimeout(watchdog);
    }
}

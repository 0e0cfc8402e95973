// A part of the queue: of ten thousand that wait, the page holds those that somebody looks at.

import type { WaitingBackup } from "../api/types";

/** Rows that stand one behind the other; `first` is the index of the first of them, from 0. */
export type QueuePart = { first: number; rows: readonly WaitingBackup[] };

// Several screens full: who scrolls on finds the next rows there.
export const PART_ROWS = 200;

/** The part to ask for when these rows are in view: they are in the middle of it. */
export const partAround = (from: number, to: number): number => {
    const first = Math.max(0, Math.floor((from + to - PART_ROWS) / 2));
    return to <= PART_ROWS ? 0 : first;
};

/** Whether these rows, of so many in all, are held. */
export const holds = (part: QueuePart, from: number, to: number, total: number): boolean =>
    part.first <= from && Math.min(to, total) <= part.first + part.rows.length;

export const rowAt = (part: QueuePart, index: number): WaitingBackup | undefined => part.rows[index - part.first];

/** The rows that still wait, and how many of them have left; who stood behind those moves up. */
export function stillWaiting(part: QueuePart, waits: (name: string) => boolean): { part: QueuePart; left: number } {
    const rows = part.rows.filter((row) => waits(row.name));
    return { part: { first: part.first, rows }, left: part.rows.length - rows.length };
}

/** The part after one backup has been moved to a place among `total`; places stay without holes. */
export function moved(part: QueuePart, total: number, name: string, to: number): QueuePart {
    const row = part.rows.find((one) => one.name === name);
    if (!row) return part;
    const rest = part.rows.filter((one) => one !== row);
    const index = Math.min(Math.max(to, 1), total) - 1 - part.first;
    // Who goes ahead of this part pushes it back by one; who goes behind it is seen no more.
    const first = index < 0 ? part.first + 1 : part.first;
    if (index >= 0 && index <= rest.length) rest.splice(index, 0, row);
    return { first, rows: rest.map((one, at) => ({ ...one, position: first + at + 1 })) };
}

const PART_OF_A_NAME = /[\w.-]/;

/** What a sentence says before and after a name, so that the name can be a link in it. */
export function around(sentence: string, name: string): [string, string] {
    for (let at = sentence.indexOf(name); at >= 0; at = sentence.indexOf(name, at + 1)) {
        const [before, after] = [sentence.slice(0, at), sentence.slice(at + name.length)];
        if (!PART_OF_A_NAME.test(before.slice(-1)) && !/^[\w-]|^\.\w/.test(after)) return [before, after];
    }
    return ["", `: ${sentence}`];
}

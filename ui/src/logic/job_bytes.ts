// How far something is in bytes, in the words of the command line. What a whole job has before it, the server works out.

import type { JobBytes } from "../api/types";
import { bytes, duration, plural, rate } from "./quantities";

export type BytesInWords = { amount: string; speed: string; left: string };

/** Only what is known, and that something is not known. */
export function bytesInWords(told: JobBytes): BytesInWords {
    const { done, total, volumesNotMeasured, bytesPerSecond, secondsLeft } = told;
    return {
        amount: amount(done, total, volumesNotMeasured),
        speed: bytesPerSecond === undefined ? "" : rate(bytesPerSecond),
        left: secondsLeft === undefined ? "" : `${duration(secondsLeft)} left`,
    };
}

function amount(done: number, total: number | undefined, unmeasured: number): string {
    if (total === undefined) return done ? bytes(done) : "";
    if (!unmeasured) return `${bytes(done)} of ${bytes(total)}`;
    const known = total ? `${bytes(done)} of at least ${bytes(total)}, ` : "";
    return `${known}${plural(unmeasured, "volume")} not measured yet`;
}

type Told = { bytesDone?: number; totalBytes?: number; size?: number; bytesPerSecond?: number };

/**
 * How far one volume is, in bytes of its data. Its mover counts its work: whole blocks, and of a volume that has hardly
 * changed only what it must look at. What need not be looked at is done.
 */
export function ofVolume(
    told: Told,
    expected: number | undefined,
): { done: number; size?: number; perSecond?: number } {
    const { bytesDone = 0, totalBytes: work, bytesPerSecond: perSecond } = told;
    const size = told.size ?? expected ?? work;
    const moved = work === undefined ? bytesDone : Math.min(bytesDone, work);
    if (size === undefined) return { done: moved, perSecond };
    if (work === undefined) return { done: Math.min(moved, size), size, perSecond };
    if (work <= size) return { done: size - (work - moved), size, perSecond };
    const scale = size / work;
    return {
        done: Math.floor(moved * scale),
        size,
        perSecond: perSecond === undefined ? undefined : perSecond * scale,
    };
}

// What cron expressions mean, as the server explains them: asked for once each, several at a time.

import { signal } from "@preact/signals";
import { get } from "../api/client";
import type { CronMeaning, CronMeanings, CronNumbers } from "../api/types";

// Longer than between two keys, so that who types is not answered for each of them.
const REST_MS = 150;
const MOST_AT_ONCE = 100;

const known = signal<ReadonlyMap<string, CronMeaning>>(new Map());
const wanted = new Set<string>();
let resting: ReturnType<typeof setTimeout> | undefined;

async function ask(): Promise<void> {
    const asked = [...wanted].slice(0, MOST_AT_ONCE);
    const query = asked.map((one) => `schedule=${encodeURIComponent(one)}`).join("&");
    try {
        const found = (await get<CronMeanings>(`/v1/cron?${query}`)).data;
        known.value = new Map([...known.value, ...found.map((one) => [one.schedule, one] as const)]);
    } finally {
        for (const one of asked) wanted.delete(one);
        if (wanted.size > 0) soon();
    }
}

function soon(): void {
    clearTimeout(resting);
    // A failure is told by the banner; whoever shows the expression again asks again.
    resting = setTimeout(() => void ask().catch(() => undefined), REST_MS);
}

function meaningOf(schedule: string): CronMeaning | undefined {
    const found = known.value.get(schedule);
    if (!found && schedule.trim() && !wanted.has(schedule)) {
        wanted.add(schedule);
        soon();
    }
    return found;
}

/** "every day at 02:30"; the expression itself until the server has said so, or where nobody would say it in words. */
export const cronWords = (schedule: string): string => meaningOf(schedule)?.words || schedule;

/** What somebody who types an expression wants to be told; undefined for what cannot be said in words. */
export function cronHint(schedule: string): string | undefined {
    const words = meaningOf(schedule)?.words;
    return words ? `Runs ${words}.` : undefined;
}

export const cronNumbers = (schedule: string): CronNumbers | undefined => meaningOf(schedule)?.numbers;

// Which volumes are safe, as the server judges them: asked for anew when something has changed, and every minute.

import { computed, signal } from "@preact/signals";
import { get } from "../api/client";
import type { Protection } from "../api/types";
import type { Protections } from "../logic/protection";
import { Asked } from "./asked";
import { now } from "./clock";
import { schedules, volumes } from "./resources";

/** Null until the server has answered. */
export const protection = signal<Protections | null>(null);

const minute = computed(() => Math.floor(now.value / 60_000));

const asked = new Asked(
    async () => {
        const answer = await get<Protection>("/v1/protection");
        protection.value = new Map(answer.volumes.map((one) => [one.volume, one]));
    },
    () => {
        for (const kind of [volumes, schedules]) kind.version.value;
        minute.value;
    },
);

export const watchProtection = (): (() => void) => asked.watch();

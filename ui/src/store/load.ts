// The load as the server tells it: what each node carries and may carry, and who waits for what.

import { signal } from "@preact/signals";
import { get } from "../api/client";
import type { LoadStatus } from "../api/types";
import { Asked } from "./asked";
import { downloads, nodes, settings, uploads } from "./resources";

export const load = signal<LoadStatus | null>(null);

const asked = new Asked(
    async () => {
        load.value = await get<LoadStatus>("/v1/load");
    },
    () => {
        for (const kind of [nodes, settings, ...uploads, ...downloads]) kind.version.value;
    },
);

export const watchLoad = (): (() => void) => asked.watch();

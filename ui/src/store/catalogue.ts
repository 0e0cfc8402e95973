// The catalogue as the server tells it: its state, and what is asked of it.

import { signal } from "@preact/signals";
import { call, get, pathOf } from "../api/client";
import type {
    Backup,
    CatalogueFacets,
    CatalogueStatus,
    Deletion,
    SelectedRecords,
    SelectionDeletion,
    Verification,
} from "../api/types";
import { type CatalogueFilter, OWNER, queryOf, type StoredBackup } from "../logic/catalogue";
import { time } from "../logic/quantities";
import { Asked } from "./asked";
import { backups, deletions, noteAnswer, targets } from "./resources";

const LOOK_AGAIN_MS = 10_000;

export const status = signal<CatalogueStatus | null>(null);

/** Keep the state fresh; `again` is called whenever rows may have changed. */
export function watchCatalogue(again: () => Promise<void>): { stop: () => void; soon: () => void } {
    const asked = new Asked(
        async () => {
            status.value = await get<CatalogueStatus>("/v1/catalogue/status");
            await again();
        },
        () => {
            for (const kind of [targets, deletions, backups]) kind.version.value;
        },
    );
    const stop = asked.watch();
    // A sync of a single volume changes no target: without news it is looked at now and then.
    const timer = setInterval(() => !document.hidden && asked.soon(), LOOK_AGAIN_MS);
    return {
        stop: () => {
            clearInterval(timer);
            stop();
        },
        soon: () => asked.soon(),
    };
}

/** Ask now, and again until the catalogue knows what was written a moment ago; `ask` tells. Returns how to stop. */
export function untilKnown(ask: () => Promise<boolean>): () => void {
    const look = async () => (await ask()) && stop();
    const timer = setInterval(() => void (document.hidden || look()), LOOK_AGAIN_MS);
    const stop = () => clearInterval(timer);
    void look();
    return stop;
}

export const askFacets = (filter: CatalogueFilter) => get<CatalogueFacets>(`/v1/catalogue/facets?${queryOf(filter)}`);
export const askVolumeCount = async (filter: CatalogueFilter): Promise<number> =>
    (await get<{ volumes: number }>(`/v1/catalogue/counts?${queryOf(filter)}`)).volumes;
export const askRecords = (filter: CatalogueFilter) => get<SelectedRecords>(`/v1/catalogue/records?${queryOf(filter)}`);

export async function newestOf(target: string, volume: string): Promise<StoredBackup | undefined> {
    const query = queryOf({ target, volume, state: "Completed" });
    return (await get<{ data: StoredBackup[] }>(`/v1/catalogue/backups?limit=1&${query}`)).data[0];
}

// Clocks of a server and of its movers may differ by a little.
const LEEWAY_MS = 60_000;

/** What all volume backups of a Backup refer to in their store; null where the catalogue does not know them yet. */
export async function storedBytes({ metadata, status }: Backup): Promise<number | null> {
    const near = (text: string | undefined, by: number) => new Date((time(text) ?? Date.now()) + by).toISOString();
    const filter = {
        label: `${OWNER}=${metadata.name}`,
        since: near(status.startTimestamp, -LEEWAY_MS),
        until: near(status.completionTimestamp, LEEWAY_MS),
    };
    const { data } = await get<{ data: StoredBackup[] }>(`/v1/catalogue/backups?limit=1000&${queryOf(filter)}`);
    return data.length ? data.reduce((sum, row) => sum + Number(row.size), 0) : null;
}

export async function syncTarget(target: string, more: { volume?: string; confirmVanished?: string } = {}) {
    await call("POST", `${pathOf("backuptargets", target)}?action=backupTargetSync`, more);
}

export async function adoptStore(target: string, mark: string): Promise<void> {
    await call("POST", `${pathOf("backuptargets", target)}?action=backupTargetAdopt`, { mark });
}

/** Backups of a volume, or all of it where none is named. */
export async function deleteStored(target: string, volume: string, names: string[]): Promise<void> {
    const what = names.length > 0 ? { backups: names } : { wholeVolume: true };
    noteAnswer(await call<Deletion>("POST", "/v1/deletions", { target, volume, ...what }));
}

export const deleteMatching = (filter: CatalogueFilter, expected: number) =>
    call<SelectionDeletion>("POST", `/v1/catalogue/deletions?${queryOf(filter)}`, { expected });

export async function cancelDeletion(name: string): Promise<void> {
    noteAnswer(await call<Deletion>("POST", `${pathOf("deletions", name)}/cancel`));
}

export async function retryDeletion(name: string): Promise<void> {
    noteAnswer(await call<Deletion>("POST", `${pathOf("deletions", name)}/retry`));
}

export async function verifyBackup(backup: string): Promise<void> {
    const name = `${backup.slice(0, 200)}-${new Date().toISOString().slice(0, 19).replace(/\D/g, "")}`;
    await call<Verification>("POST", "/v1/verifications", { metadata: { name }, spec: { backupName: backup } });
}

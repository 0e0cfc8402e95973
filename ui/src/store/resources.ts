// The one store of the page: every kind that some screen shows, loaded when the first screen needs it.

import { get } from "../api/client";
import type {
    Backup,
    BackupTarget,
    DataDownload,
    DataUpload,
    Deletion,
    Namespace,
    Node,
    PodVolumeBackup,
    PodVolumeRestore,
    Restore,
    Schedule,
    Setting,
    SystemBackup,
    SystemRestore,
    Verification,
    Volume,
} from "../api/types";
import { type AnyResource, type Change, Collection } from "./collection";

export type Transfer = DataUpload | DataDownload | PodVolumeBackup | PodVolumeRestore;

export const backups = new Collection<Backup>("backups");
export const restores = new Collection<Restore>("restores");
export const schedules = new Collection<Schedule>("schedules");
export const volumes = new Collection<Volume>("volumes");
export const targets = new Collection<BackupTarget>("backuptargets");
export const nodes = new Collection<Node>("nodes");
export const namespaces = new Collection<Namespace>("namespaces");
export const settings = new Collection<Setting>("settings");
export const deletions = new Collection<Deletion>("deletions");
export const systemBackups = new Collection<SystemBackup>("systembackups");
export const systemRestores = new Collection<SystemRestore>("systemrestores");
export const verifications = new Collection<Verification>("verifications");
export const uploads = [
    new Collection<DataUpload>("datauploads"),
    new Collection<PodVolumeBackup>("podvolumebackups"),
] as const;
export const downloads = [
    new Collection<DataDownload>("datadownloads"),
    new Collection<PodVolumeRestore>("podvolumerestores"),
] as const;

export const transfersUp = (): Transfer[] => uploads.flatMap((kind): Transfer[] => kind.all());
export const transfersDown = (): Transfer[] => downloads.flatMap((kind): Transfer[] => kind.all());

const COLLECTIONS = [
    backups,
    restores,
    schedules,
    volumes,
    targets,
    nodes,
    namespaces,
    settings,
    deletions,
    systemBackups,
    systemRestores,
    verifications,
    ...uploads,
    ...downloads,
] as unknown as Collection<AnyResource>[];
const byPlural = new Map(COLLECTIONS.map((one) => [one.plural, one]));
const KIND_PLURALS: Record<string, string> = {
    Backup: "backups",
    Restore: "restores",
    Schedule: "schedules",
    Volume: "volumes",
    BackupTarget: "backuptargets",
    Node: "nodes",
    Namespace: "namespaces",
    Setting: "settings",
    Deletion: "deletions",
    SystemBackup: "systembackups",
    SystemRestore: "systemrestores",
    Verification: "verifications",
    DataUpload: "datauploads",
    PodVolumeBackup: "podvolumebackups",
    DataDownload: "datadownloads",
    PodVolumeRestore: "podvolumerestores",
};
export const PLURALS = [...byPlural.keys()];

const wanted = new Set<string>();

type Page<T> = { data: T[]; resourceVersion: string; pagination: { next: string | null } };

// The first few fill a screen; a larger page keeps the server from answering anybody else meanwhile.
const FIRST_PAGE = 100;
const PAGE = 500;

async function load(collection: Collection<AnyResource>): Promise<void> {
    const found: AnyResource[] = [];
    let version = "";
    let marker: string | null = null;
    do {
        const more: string = marker === null ? "" : `&marker=${encodeURIComponent(marker)}`;
        // Settings are told all at once.
        const limit = collection.plural === "settings" ? "" : `?limit=${marker === null ? FIRST_PAGE : PAGE}${more}`;
        const page: Page<AnyResource> = await get(`/v1/${collection.plural}${limit}`);
        version ||= page.resourceVersion;
        marker = page.pagination.next;
        found.push(...page.data);
        if (marker !== null && !collection.loaded.value) collection.addPage(page.data);
    } while (marker !== null);
    collection.replaceAll(found, version);
}

const loading = new Map<string, Promise<void>>();

/** Load what is not there yet. Failures are the connection's to tell: it loads again when the server is back. */
export function need(...kinds: readonly { plural: string }[]): void {
    for (const { plural } of kinds) {
        if (wanted.has(plural)) continue;
        wanted.add(plural);
        void reload(plural);
    }
}

function reload(plural: string): Promise<void> {
    const running = loading.get(plural);
    if (running) return running;
    const started = load(byPlural.get(plural)!)
        .catch(() => undefined)
        .finally(() => loading.delete(plural));
    loading.set(plural, started);
    return started;
}

/** List again what is shown: all, or what was listed before `version`. */
export const reloadWanted = (version?: string): Promise<void[]> =>
    Promise.all([...wanted].map((plural) => relist(plural, version)));

async function relist(plural: string, version: string | undefined): Promise<void> {
    await loading.get(plural); // it may have begun before that version
    if (!byPlural.get(plural)!.isListedSince(version)) await reload(plural);
}

/** Take in changes of several kinds and draw once. */
export function applyChanges(changes: readonly { change: Change; resource: AnyResource }[]): void {
    const touched = new Set<Collection<AnyResource>>();
    for (const { change, resource } of changes) {
        const plural = KIND_PLURALS[resource.kind];
        if (plural === undefined || !wanted.has(plural)) continue;
        if (plural === "settings" && change === "DELETED") void reload(plural); // it has its default again
        const collection = byPlural.get(plural)!;
        collection.note(change, resource);
        touched.add(collection);
    }
    for (const collection of touched) collection.publish();
}

/** The answer to a change that the user made: shown before the stream tells it. */
export function noteAnswer(resource: AnyResource | undefined): void {
    if (resource?.kind) applyChanges([{ change: "MODIFIED", resource }]);
}

export function forgetAll(): void {
    wanted.clear();
    for (const collection of COLLECTIONS) collection.forget();
}

export const setting = (name: string): string | undefined => settings.get(name)?.spec.value;

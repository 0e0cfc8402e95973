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
import { Gate } from "./gate";

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

type Page<T> = { data: T[]; pagination: { next: string | null } };

// The first few fill a screen; a larger page keeps the server from answering anybody else meanwhile.
const FIRST_PAGE = 100;
const PAGE = 500;

// A list that is asked for while the stream is open misses nothing: what changes behind it comes with the stream.
const stream = new Gate();
// A proxy may hold the stream back; rows are shown all the same, and listed again once it is open.
const LONGEST_WAIT_MS = 1000;

/** Asked for at least once. */
const asked = new Set<string>();

async function load(collection: Collection<AnyResource>): Promise<void> {
    await stream.passed(LONGEST_WAIT_MS);
    asked.add(collection.plural);
    collection.expectList();
    const found: AnyResource[] = [];
    let marker: string | null = null;
    do {
        const more: string = marker === null ? "" : `&marker=${encodeURIComponent(marker)}`;
        // Settings are told all at once.
        const limit = collection.plural === "settings" ? "" : `?limit=${marker === null ? FIRST_PAGE : PAGE}${more}`;
        const page: Page<AnyResource> = await get(`/v1/${collection.plural}${limit}`);
        marker = page.pagination.next;
        found.push(...page.data);
        if (marker !== null && !collection.loaded.value) collection.addPage(page.data);
    } while (marker !== null);
    collection.replaceAll(found);
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

/** The stream has begun: anew, so that what was listed before may be old, or where it ended. */
export function streamOpened(anew: boolean): void {
    const listed = anew ? [...wanted].filter((plural) => asked.has(plural)) : [...wanted].filter(failed);
    stream.open();
    for (const plural of listed) void relist(plural);
}

export const streamClosed = (): void => stream.close();

const failed = (plural: string): boolean => !byPlural.get(plural)!.loaded.value && !loading.has(plural);

async function relist(plural: string): Promise<void> {
    await loading.get(plural); // it began before the stream did
    await reload(plural);
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
    const plural = resource && KIND_PLURALS[resource.kind];
    if (plural && wanted.has(plural)) byPlural.get(plural)!.noteAnswer(resource);
}

export function forgetAll(): void {
    wanted.clear();
    asked.clear();
    for (const collection of COLLECTIONS) collection.forget();
}

export const setting = (name: string): string | undefined => settings.get(name)?.spec.value;

// What the catalogue is asked for, from the address and as a command; and what its state means in words.

import type { Deletion, TargetCatalogue } from "../api/types";
import { command, flag } from "./commands";
import { plural } from "./quantities";

/** Longhorn's field names, as `/v1/catalogue` answers. Sizes and times are text, empty where nothing is known. */
export type StoredBackup = {
    name: string;
    state: string;
    error: string;
    url: string;
    created: string;
    /** In whole blocks. */
    size: string;
    /** As people count it: the files of a tree, all of an image. */
    dataSize: string;
    newlyUploadDataSize: string;
    labels: Record<string, string>;
    volumeName: string;
    backupTargetName: string;
    namespace: string;
    claim: string;
};

export type StoredVolume = {
    id: string;
    name: string;
    backupTargetName: string;
    dataSize: string;
    dataStored: string;
    backupCount: number;
    lastBackupAt: string;
    lastSyncedAt: string;
    labels: Record<string, string>;
    messages: Record<string, string>;
};

export const FILTERS = ["search", "target", "namespace", "volume", "state", "label", "since", "until"] as const;
export type FilterName = (typeof FILTERS)[number];
export type CatalogueFilter = Partial<Record<FilterName, string>>;
/** What a volume is told apart by; the others are about single backups. */
export const VOLUME_FILTERS: readonly FilterName[] = ["search", "target", "namespace", "volume"];

export const readFilter = (params: URLSearchParams, names: readonly FilterName[] = FILTERS): CatalogueFilter =>
    Object.fromEntries(names.flatMap((name) => (params.get(name) ? [[name, params.get(name)!]] : [])));

export const isEmpty = (filter: CatalogueFilter): boolean => Object.keys(filter).length === 0;

/** A day begins at midnight here, as it does on the command line. */
const moment = (day: string): string => (/^\d{4}-\d\d-\d\d$/.test(day) ? new Date(`${day}T00:00`).toISOString() : day);

export function queryOf(filter: CatalogueFilter): string {
    const { since, until, ...others } = filter;
    const times = { ...(since ? { since: moment(since) } : {}), ...(until ? { until: moment(until) } : {}) };
    return new URLSearchParams({ ...others, ...times }).toString();
}

const words = ({ search, target, namespace, volume, state, label, since, until }: CatalogueFilter) => [
    search,
    ...flag("target", target),
    ...flag("namespace", namespace),
    ...flag("volume", volume),
    ...flag("state", state),
    ...flag("label", label),
    ...flag("since", since),
    ...flag("until", until),
];

export const searchCommand = (filter: CatalogueFilter, volumes: boolean): string =>
    command("catalog", "search", ...words(filter), volumes && "--volumes");
export const deleteCommand = (filter: CatalogueFilter): string =>
    command("catalog", "delete", ...words(filter), "--yes");
export const syncCommand = (target: string, volume?: string): string =>
    command("target", "sync", target, ...flag("volume", volume));

export const OWNER = "tidegate.dev/backup";
/** The Backup that wrote it, as its labels say: anybody can write labels, so it is only a name to look up. */
export const ownerOf = (row: StoredBackup): string => row.labels[OWNER] ?? "";

type Claim = { namespace: string; claim: string };

/** Whose data a volume holds: our own labels, or Longhorn's document about its PVC. */
export function claimOf(labels: Record<string, string>): Claim {
    const own = { namespace: labels["tidegate.dev/namespace"] ?? "", claim: labels["tidegate.dev/volume"] ?? "" };
    if (own.claim) return own;
    try {
        const status = JSON.parse(labels["KubernetesStatus"] ?? "{}") as Record<string, unknown>;
        return { namespace: String(status["namespace"] ?? ""), claim: String(status["pvcName"] ?? "") };
    } catch {
        return own;
    }
}

const ENDED: ReadonlySet<string> = new Set(["", "Done", "Failed"]);
export const isSyncing = (target: TargetCatalogue): boolean => !ENDED.has(target.sync.stage);
const isFresh = (target: TargetCatalogue): boolean =>
    !isSyncing(target) && target.available !== false && target.lastSyncedAt !== undefined && !target.sync.failures;

/** Targets whose store has not been read as a whole: what they hold is missing from every list. */
export const notReadYet = (targets: readonly TargetCatalogue[]): string[] =>
    targets.filter((one) => one.lastSyncedAt === undefined).map((one) => one.name);

/** What of a store cannot be read; empty if nothing is broken. */
export function brokenWords({ damage: { volumes, backups } }: TargetCatalogue): string {
    const counts = [volumes && plural(volumes, "volume"), backups && plural(backups, "backup")].filter(Boolean);
    return counts.length ? `${counts.join(" and ")} cannot be read` : "";
}

const share = (target: TargetCatalogue): number =>
    isSyncing(target) ? target.sync.done / Math.max(1, target.sync.total) : 1;

/** "62 %, 3 of 5 targets, last full 14:02": how far, how many are up to date, and since when all of it is known. */
export function syncHeadline(targets: readonly TargetCatalogue[], clock: (time: string) => string): string {
    if (targets.length === 0) return "There is no target yet.";
    const fresh = `${targets.filter(isFresh).length} of ${plural(targets.length, "target")}`;
    const known = targets.map((one) => one.lastSyncedAt ?? "").sort();
    const full = known[0] ? `, last full ${clock(known[0])}` : ", not all of them read yet";
    if (!targets.some(isSyncing)) return `Up to date: ${fresh}${full}`;
    const part = targets.reduce((sum, one) => sum + share(one), 0) / targets.length;
    return `${Math.floor(part * 100)} %, ${fresh}${full}`;
}

export const goesOn = (deletion: Deletion): boolean =>
    deletion.status.phase === "Waiting" || deletion.status.phase === "Retrying" || deletion.status.phase === "Running";
export const canCancel = (deletion: Deletion): boolean =>
    goesOn(deletion) && deletion.status.phase !== "Running" && !deletion.spec.upload && !deletion.spec.cancel;
export const whatGoes = ({ spec }: Deletion): string =>
    spec.backups.length === 0
        ? "the whole volume"
        : spec.backups.length === 1
          ? spec.backups[0]!
          : plural(spec.backups.length, "backup");

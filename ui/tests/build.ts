// Builders that show only what matters to a test.

import type { Backup, BackupTarget, Schedule, Volume } from "../src/api/types";

type Deep<T> = { [K in keyof T]?: T[K] extends object ? Deep<T[K]> : T[K] };

const metadata = (name: string, more: object = {}) => ({
    name,
    namespace: "",
    uid: `uid-${name}`,
    resourceVersion: "1",
    generation: 1,
    labels: {},
    annotations: {},
    finalizers: [],
    ownerReferences: [],
    ...more,
});

export const backup = (
    name: string,
    status: Deep<Backup["status"]> = {},
    spec: Deep<Backup["spec"]> = {},
    more: object = {},
): Backup =>
    ({
        kind: "Backup",
        metadata: metadata(name, more),
        spec: { includedNamespaces: [], excludedNamespaces: [], ...spec },
        status: { phase: "Completed", conditions: [], events: [], ...status },
    }) as unknown as Backup;

export const volume = (key: string, lastBackupAt?: string): Volume => {
    const [namespace = "", name = ""] = key.split("/");
    return {
        kind: "Volume",
        metadata: metadata(name, { namespace }),
        spec: { directory: "/x" },
        status: { conditions: [], ...(lastBackupAt ? { lastBackupAt } : {}) },
    } as unknown as Volume;
};

export const schedule = (name: string, cron: string, spec: object = {}, more: object = {}): Schedule =>
    ({
        kind: "Schedule",
        metadata: metadata(name, { creationTimestamp: "2020-01-01T00:00:00Z", ...more }),
        spec: {
            schedule: cron,
            timezone: "UTC",
            paused: false,
            template: { includedNamespaces: [], excludedNamespaces: [] },
            ...spec,
        },
        status: { conditions: [] },
    }) as unknown as Schedule;

export const target = (name: string, available = true): BackupTarget =>
    ({
        kind: "BackupTarget",
        metadata: metadata(name),
        spec: { url: "file:///x", default: true },
        status: { available, conditions: [], message: "" },
    }) as unknown as BackupTarget;

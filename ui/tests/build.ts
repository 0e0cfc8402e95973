// Builders that show only what matters to a test.

import type { Backup, BackupTarget, CronNumbers, Schedule, Volume } from "../src/api/types";

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

const upTo = (first: number, last: number, step = 1): number[] =>
    Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);

const cron = (minutes: number[], hours: number[], more: Partial<CronNumbers> = {}): CronNumbers => ({
    minutes,
    hours,
    days: upTo(1, 31),
    months: upTo(1, 12),
    weekdays: upTo(0, 6),
    eitherDay: false,
    ...more,
});

const NUMBERS: Record<string, CronNumbers> = {
    "@daily": cron([0], [0]),
    "@hourly": cron([0], upTo(0, 23)),
    "@weekly": cron([0], [0], { weekdays: [0] }),
    "0 0 * * *": cron([0], [0]),
    "0 0 13 * 5": cron([0], [0], { days: [13], weekdays: [5], eitherDay: true }),
    "30 2 * * *": cron([30], [2]),
    "*/5 * * * *": cron(upTo(0, 55, 5), upTo(0, 23)),
    "0 3 * * *": cron([0], [3]),
    "5 3 * * *": cron([5], [3]),
    "10 3 * * SUN": cron([10], [3], { weekdays: [0] }),
    "0 9 * * *": cron([0], [9]),
};

/** What the server says of the expressions that tests use. */
export const numbers = (schedule: string): CronNumbers | undefined => NUMBERS[schedule];

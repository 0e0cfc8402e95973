// What happened to a backup or a restore and to its transfers, by time: the lines of `backup logs` and `restore logs`.

import type { Backup, BackupEvent, Condition, Metadata } from "../api/types";

export type LogLine = { at: string; who: string; what: string; message: string; bad: boolean };

type Job = {
    kind: string;
    metadata: Pick<Metadata, "name" | "creationTimestamp">;
    status: { events: BackupEvent[] };
};
type Moved = {
    kind: string;
    metadata: Pick<Metadata, "name" | "creationTimestamp">;
    spec: Pick<MovedSpec, "volumeNamespace" | "volumeName" | "storeBackup" | "target" | "path">;
    status: {
        phase: string;
        message: string;
        conditions: Condition[];
        acceptedTimestamp?: string;
        startTimestamp?: string;
        completionTimestamp?: string;
        result?: { warnings: string[] };
    };
};
type MovedSpec = { volumeNamespace: string; volumeName: string; storeBackup: string; target: string; path: string };

const BAD: ReadonlySet<string> = new Set(["Failed", "PartiallyFailed", "FailedValidation", "Warning"]);
const FINAL: ReadonlySet<string> = new Set(["Completed", "Failed", "Canceled"]);
const DOWN: ReadonlySet<string> = new Set(["DataDownload", "PodVolumeRestore"]);

const line = (at: string, who: string, what: string, message = ""): LogLine => ({
    at,
    who,
    what,
    message,
    bad: BAD.has(what),
});

function ofJob(job: Job): LogLine[] {
    const who = `${job.kind.toLowerCase()} ${job.metadata.name}`;
    const made = job.metadata.creationTimestamp;
    return [
        ...(made ? [line(made, who, "Created")] : []),
        ...job.status.events.map((event) =>
            line(
                event.lastTimestamp,
                who,
                event.reason,
                event.message + (event.count > 1 ? ` (${event.count} times)` : ""),
            ),
        ),
    ];
}

function way(one: Moved): string {
    const store = `${one.spec.storeBackup} in ${one.spec.target}`;
    return DOWN.has(one.kind) ? `from ${store} to ${one.spec.path}` : `from ${one.spec.path} to ${store}`;
}

function ofTransfer(one: Moved): LogLine[] {
    const { status } = one;
    const who = `${one.spec.volumeNamespace}/${one.spec.volumeName}`;
    const waiting = status.conditions.find(({ type, status: holds }) => type === "Waiting" && holds === "True");
    const ended = status.completionTimestamp ?? one.metadata.creationTimestamp;
    const lines: LogLine[] = [];
    if (waiting?.lastTransitionTime)
        lines.push(line(waiting.lastTransitionTime, who, "Waiting", `${waiting.reason}: ${waiting.message}`));
    if (status.acceptedTimestamp) lines.push(line(status.acceptedTimestamp, who, "Accepted", one.metadata.name));
    if (status.startTimestamp) lines.push(line(status.startTimestamp, who, "Started", way(one)));
    if (FINAL.has(status.phase) && ended) {
        for (const warning of status.result?.warnings ?? []) lines.push(line(ended, who, "Warning", warning));
        lines.push(line(ended, who, status.phase, status.message));
    } else if (status.phase === "Canceling" && status.startTimestamp) {
        lines.push(line(status.startTimestamp, who, "Canceling", status.message));
    }
    return lines;
}

/** Oldest first; at one instant, the job before its volumes. */
export const jobLog = (job: Job | Backup, transfers: readonly Moved[]): LogLine[] =>
    [...ofJob(job), ...transfers.flatMap(ofTransfer)].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));

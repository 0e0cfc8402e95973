// How far a whole job is: percent, bytes, rate and time left of all its volumes, also of those that wait.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api/client";
import type { Backup, JobBytes, Restore, SystemBackup, SystemRestore, Verification } from "../api/types";
import { bytesInWords } from "../logic/job_bytes";
import { Bar } from "../parts/words";
import { now } from "../store/clock";

const EVERY_MS = 2000;
const PLURALS = {
    Backup: "backups",
    Restore: "restores",
    Verification: "verifications",
    SystemBackup: "systembackups",
    SystemRestore: "systemrestores",
} as const;

type Job = Backup | Restore | Verification | SystemBackup | SystemRestore;

/** The numbers as they are now: the stream tells those of the last step only. */
function useBytes(job: Job): JobBytes | undefined {
    const found = useSignal<JobBytes | undefined>(undefined);
    const { name, uid } = job.metadata;
    const turn = Math.floor(now.value / EVERY_MS);
    useEffect(() => {
        void get<Job>(`/v1/${PLURALS[job.kind]}/${encodeURIComponent(name)}`)
            .then((fresh) => {
                if (fresh.metadata.uid === uid) found.value = fresh.status.bytes;
            })
            .catch(() => undefined); // the banner tells it; the next turn asks again
    }, [uid, turn]);
    return found.value ?? job.status.bytes;
}

/** For a job that is on its way; nothing as long as nothing is known. */
export function JobProgress({ job }: { job: Job }) {
    const told = useBytes(job);
    if (!told) return null;
    const { amount, speed, left } = bytesInWords(told);
    const name = job.metadata.name;
    return (
        <div class="moving whole" data-progress={name}>
            <span class="what">
                <b>the whole</b>
            </span>
            <Bar percent={told.percent} label={`Bytes of all volumes of ${name}`} />
            <span class="end">{told.percent === undefined ? "" : `${told.percent} %`}</span>
            <span class="end amount">{amount}</span>
            <span class="end">{speed}</span>
            <span class="end">{left}</span>
        </div>
    );
}

/** The same in a cell of a table. */
export function JobShare({ job }: { job: Job }) {
    const told = useBytes(job);
    if (!told) return null;
    const { amount, left } = bytesInWords(told);
    return (
        <span class="row">
            <Bar percent={told.percent} label={`Bytes of all volumes of ${job.metadata.name}`} />
            {[told.percent === undefined ? "" : `${told.percent} %`, amount, left].filter(Boolean).join(", ")}
        </span>
    );
}

// The log of a backup or a restore and of its volumes, as the server tells it.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, pathOf } from "../api/client";
import type { JobLog, LogEntry, Metadata } from "../api/types";
import { Asked } from "./asked";

type Part = { kind: string; metadata: Pick<Metadata, "name" | "resourceVersion"> };

const PLURAL: Record<string, string> = { Backup: "backups", Restore: "restores" };

/** Its lines, oldest first; asked for anew when the job or one of its transfers has changed. */
export function useJobLog(job: Part, transfers: readonly Part[]): readonly LogEntry[] {
    const path = `${pathOf(PLURAL[job.kind]!, job.metadata.name)}/log`;
    const versions = [job, ...transfers].map((one) => one.metadata.resourceVersion).join(" ");
    const lines = useSignal<readonly LogEntry[]>([]);
    const seen = useSignal(versions);
    useEffect(() => {
        seen.value = versions;
    }, [versions]);
    useEffect(() => {
        const asked = new Asked(
            async () => {
                lines.value = (await get<JobLog>(path)).data;
            },
            () => void seen.value,
        );
        return asked.watch();
    }, [path]);
    return lines.value;
}

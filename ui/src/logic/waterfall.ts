// Where the time of a backup went: queued -> preparing -> moving -> finalising, of the whole and of each volume.

import type { Backup } from "../api/types";
import { time } from "./quantities";

export type Stage = { stage: "queued" | "preparing" | "moving" | "finalising"; from: number; to: number };
export type Line = { name: string; stages: Stage[]; total: number };

type Timed = {
    spec: { volumeNamespace: string; volumeName: string };
    metadata: { creationTimestamp?: string };
    status: { acceptedTimestamp?: string; startTimestamp?: string; completionTimestamp?: string };
};

function lineOf(name: string, stages: (Stage | false)[]): Line {
    const kept = stages.filter((one): one is Stage => one !== false && one.to >= one.from);
    const from = Math.min(...kept.map((one) => one.from));
    return { name, stages: kept, total: kept.length ? Math.max(...kept.map((one) => one.to)) - from : 0 };
}

export function waterfall(backup: Backup, transfers: readonly Timed[], now: number): Line[] {
    const made = time(backup.metadata.creationTimestamp) ?? now;
    const started = time(backup.status.startTimestamp);
    const ended = time(backup.status.completionTimestamp) ?? now;
    const moves = transfers.map((one) => time(one.status.startTimestamp)).filter((at) => at !== undefined);
    const ends = transfers.map((one) => time(one.status.completionTimestamp)).filter((at) => at !== undefined);
    const firstMove = moves.length ? Math.min(...moves) : ended;
    const lastEnd = transfers.length > 0 && ends.length === transfers.length ? Math.max(...ends) : ended;
    const whole = lineOf(backup.metadata.name, [
        { stage: "queued", from: made, to: started ?? ended },
        started !== undefined && {
            stage: "preparing",
            from: started,
            to: Math.max(started, Math.min(firstMove, ended)),
        },
        started !== undefined && moves.length > 0 && { stage: "moving", from: firstMove, to: lastEnd },
        started !== undefined && lastEnd < ended && { stage: "finalising", from: lastEnd, to: ended },
    ]);
    return [
        whole,
        ...transfers.map((one) => {
            const asked = time(one.metadata.creationTimestamp) ?? ended;
            const accepted = time(one.status.acceptedTimestamp);
            const moved = time(one.status.startTimestamp);
            const done = time(one.status.completionTimestamp) ?? ended;
            return lineOf(`${one.spec.volumeNamespace}/${one.spec.volumeName}`, [
                { stage: "queued", from: asked, to: accepted ?? moved ?? done },
                accepted !== undefined && { stage: "preparing", from: accepted, to: moved ?? done },
                moved !== undefined && { stage: "moving", from: moved, to: done },
            ]);
        }),
    ];
}

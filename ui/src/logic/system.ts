// How far a system backup or a system restore is, as steps; and what a planned restore would do, in words.

import type { SystemBackup, SystemRestore } from "../api/types";
import { plural } from "./quantities";

export type Step = { name: string; state: "done" | "now" | "todo" | "bad" };

const BACKUP_STEPS = ["New", "CreatingVolumeBackups", "Generating", "Uploading", "Ready"];
const RESTORE_STEPS = ["New", "Downloading", "Restoring", "RestoringVolumes", "Completed"];

function stepped(names: readonly string[], at: number, end: "now" | "bad" | "done"): Step[] {
    return names.map((name, index) => ({
        name,
        state: index < at ? "done" : index > at ? "todo" : end,
    }));
}

/** An Error ends the steps where it happened: what is stored tells which those were. */
function failedAt(system: SystemBackup): number {
    const { volumesRequestedAt, volumes } = system.status;
    if (!volumesRequestedAt) return 0;
    return volumes.some((row) => ["Failed", "Waiting", "InProgress"].includes(row.state)) ? 1 : 3;
}

/** None for one that was found in a store: it never went through them here. */
export function backupSteps(system: SystemBackup): Step[] {
    const { phase } = system.status;
    if (phase === "Syncing" || phase === "Deleting") return [];
    if (phase === "Error") {
        const at = failedAt(system);
        return [...stepped(BACKUP_STEPS.slice(0, -1), at, "bad"), { name: "Error", state: "bad" }];
    }
    return stepped(BACKUP_STEPS, BACKUP_STEPS.indexOf(phase), phase === "Ready" ? "done" : "now");
}

export function restoreSteps(system: SystemRestore): Step[] {
    const { phase, volumesRequestedAt, definitions } = system.status;
    if (phase === "PartiallyFailed")
        return [...stepped(RESTORE_STEPS.slice(0, -1), 3, "bad"), { name: phase, state: "bad" }];
    if (phase === "Error") {
        const at = volumesRequestedAt ? 3 : definitions.some((one) => one.done) ? 2 : 1;
        return [...stepped(RESTORE_STEPS.slice(0, -1), at, "bad"), { name: phase, state: "bad" }];
    }
    return stepped(RESTORE_STEPS, RESTORE_STEPS.indexOf(phase), phase === "Completed" ? "done" : "now");
}

const WORDS: Record<string, string> = { CreatingVolumeBackups: "Volume backups", RestoringVolumes: "Volume data" };
export const stepWords = (name: string): string => WORDS[name] ?? name;

/** Of one that was found in a store, whose record here has only the default. */
export const policyWords = ({ spec, status }: SystemBackup): string =>
    status.lastSyncedAt ? "found in the store" : (spec.volumeBackupPolicy ?? "");

export const systemIsOver = (phase: string): boolean =>
    ["Ready", "Error", "Completed", "PartiallyFailed"].includes(phase);

/** Of the volumes that it backs up, or brings back, how many are done. */
export function volumesDone(system: SystemBackup | SystemRestore): [number, number] {
    const rows: { state: string }[] =
        system.kind === "SystemBackup"
            ? system.status.volumes.filter((row) => row.decision === "Created")
            : system.status.volumes.filter((row) => row.state !== "Skipped");
    return [rows.filter((row) => row.state === "Completed").length, rows.length];
}

const ACTIONS: [string, string][] = [
    ["Create", "to create"],
    ["Update", "to update"],
    ["Unchanged", "unchanged"],
    ["Keep", "kept as they are here"],
];
export const PLANNED: Record<string, string> = { Waiting: "comes back", Failed: "missing" };
export const plannedWord = (state: string): string => PLANNED[state] ?? "left alone";

/** What a restore would do, in one line. */
export function planSentence(plan: SystemRestore): string {
    const count = (wanted: string) => plan.status.definitions.filter((one) => one.action === wanted).length;
    const told = ACTIONS.flatMap(([action, words]) =>
        count(action) ? [`${plural(count(action), "definition")} ${words}`] : [],
    );
    const states = new Map<string, number>();
    for (const row of plan.status.volumes)
        states.set(plannedWord(row.state), (states.get(plannedWord(row.state)) ?? 0) + 1);
    for (const [word, many] of states) told.push(`data of ${plural(many, "volume")} ${word}`);
    return told.join(", ") || "nothing";
}

type Relied = SystemBackup["status"]["volumes"][number];

/** Which system backups could not bring back what this holds, in a sentence; false where none relies on it. */
export function reliedOn(systems: readonly SystemBackup[], isIt: (volume: Relied) => boolean): string | false {
    const found = systems.filter((system) => system.status.volumes.some(isIt)).map((one) => one.metadata.name);
    if (found.length === 0) return false;
    const which = found.slice(0, 3).join(", ") + (found.length > 3 ? ` and ${found.length - 3} more` : "");
    return `${plural(found.length, "system backup relies", "system backups rely")} on it and can then not bring back its volumes: ${which}.`;
}

// What the overview says in one sentence of what the server judged: which volumes are safe is decided there.

import type { BackupTarget, ProtectionState, Schedule, Volume, VolumeProtection } from "../api/types";
import { duration, plural, time } from "./quantities";

export const SCHEDULE_LABEL = "tidegate.dev/schedule";

/** By NAMESPACE/NAME. */
export type Protections = ReadonlyMap<string, VolumeProtection>;

export const PROTECTION_WORDS: Record<ProtectionState, string> = {
    Protected: "Protected",
    NoSchedule: "Backed up once, no schedule",
    FailedLast: "Last one failed",
    Late: "Late",
    Never: "Never backed up",
};

type Observed = { status: { conditions?: readonly { type: string }[] } };
/** Whether it is over and no volume was there for it: there is nothing in it, whatever its phase. */
export const holdsNothing = ({ status }: Observed): boolean =>
    status.conditions?.some((condition) => condition.type === "Empty") ?? false;

/** Whether a schedule makes backups and no volume is there for them: its runs end with nothing. */
export const coversNothing = ({ metadata, spec }: Schedule, protections: Protections): boolean =>
    !spec.paused &&
    !spec.systemBackup &&
    ![...protections.values()].some((one) => one.schedules.includes(metadata.name));

export type Verdict = { tone: "good" | "warn" | "bad" | "empty"; sentence: string; details: string[] };

export type Failed = { kind: string; metadata: { name: string } };

const FAILABLE: [kind: string, noun: string][] = [
    ["Backup", "backup"],
    ["Restore", "restore"],
    ["SystemBackup", "system backup"],
];

/** "2 backups and 1 restore". */
export const failures = (failed: readonly Failed[]): string =>
    FAILABLE.map(([kind, noun]): [number, string] => [failed.filter((one) => one.kind === kind).length, noun])
        .filter(([count]) => count > 0)
        .map(([count, noun]) => plural(count, noun))
        .join(" and ");

export type Situation = {
    volumes: readonly Volume[];
    protection: Protections;
    targets: readonly BackupTarget[];
    /** Backups, restores and system backups. */
    failed: readonly Failed[];
    /** Whether somebody has paused the queue while backups wait in it. */
    paused: boolean;
};

const names = (all: readonly string[]): string =>
    all.length <= 3 ? all.join(", ") : `${all.slice(0, 3).join(", ")} and ${all.length - 3} more`;

const full = (volume: Volume): string => `${volume.metadata.namespace}/${volume.metadata.name}`;

export function verdict(found: Situation, now: number): Verdict {
    const { volumes, targets } = found;
    if (targets.length === 0 || volumes.length === 0) {
        const missing = targets.length === 0 ? "a target to write to" : "a volume to protect";
        return { tone: "empty", sentence: `Nothing is protected yet: add ${missing}.`, details: [] };
    }
    const inState = (state: ProtectionState): Volume[] =>
        volumes.filter((volume) => found.protection.get(full(volume))?.state === state);
    const [never, late, failedLast, unscheduled] = [
        inState("Never"),
        inState("Late"),
        inState("FailedLast"),
        inState("NoSchedule"),
    ];
    const down = targets.filter((target) => target.status.available === false).map((target) => target.metadata.name);
    const details: string[] = [];
    if (down.length) details.push(`${plural(down.length, "target does", "targets do")} not answer: ${names(down)}`);
    const tell = (which: Volume[], one: string, many: string): void => {
        if (which.length) details.push(`${plural(which.length, one, many)}: ${names(which.map(full))}`);
    };
    tell(never, "volume was never backed up", "volumes were never backed up");
    if (late.length) {
        const oldest = duration(Math.max(...late.map((one) => (now - (time(one.status.lastBackupAt) ?? now)) / 1000)));
        const by = `behind schedule, by now ${oldest} old`;
        tell(late, `volume is ${by}`, `volumes are ${by}`);
    }
    tell(
        failedLast,
        "volume's last backup failed, left something out or proved bad",
        "volumes' last backups failed, left something out or proved bad",
    );
    tell(unscheduled, "volume was backed up once, no schedule", "volumes were backed up once, no schedule");
    if (found.failed.length) {
        const which = names(found.failed.map((one) => one.metadata.name));
        details.push(`${failures(found.failed)} failed in the last 24 hours: ${which}`);
    }
    if (found.paused) details.push("the queue is paused, and backups wait in it");
    const unsafe = never.length + late.length + failedLast.length;
    if (details.length === 0) {
        const all =
            volumes.length === 1 ? "The only volume is" : `All ${volumes.length.toLocaleString("en")} volumes are`;
        return { tone: "good", sentence: `${all} protected.`, details };
    }
    const attention = (count: number): string => `${count === 1 ? "needs" : "need"} attention.`;
    if (unsafe > 0) {
        const sentence = `${unsafe.toLocaleString("en")} of ${plural(volumes.length, "volume")} ${attention(unsafe)}`;
        return { tone: "bad", sentence, details };
    }
    if (unscheduled.length > 0 && details.length === 1) {
        const has = unscheduled.length === 1 ? "has" : "have";
        const sentence = `${unscheduled.length.toLocaleString("en")} of ${plural(volumes.length, "volume")} ${has} no schedule.`;
        return { tone: "warn", sentence, details };
    }
    const sentence = `All volumes have a backup, but ${plural(details.length, "thing")} ${attention(details.length)}`;
    return { tone: "bad", sentence, details };
}

const BAD: ReadonlySet<string> = new Set(["Failed", "PartiallyFailed", "FailedValidation", "Error"]);
export const wentWrong = (run: { status: { phase: string } }): boolean => BAD.has(run.status.phase);

type Ended = { metadata: { creationTimestamp?: string }; status: { phase: string; completionTimestamp?: string } };

/** What failed in the last day. */
export function failedLately<T extends Ended>(runs: readonly T[], now: number): T[] {
    return runs.filter((run) => {
        const ended = time(run.status.completionTimestamp) ?? time(run.metadata.creationTimestamp);
        return wentWrong(run) && ended !== undefined && now - ended < 86_400_000;
    });
}

// Is it safe? What the overview says in one sentence and the list of volumes in one word each.

import type { BackupTarget, Schedule, Volume } from "../api/types";
import { longestGap, readCron } from "./cron";
import { covers } from "./globs";
import { duration, plural, time } from "./quantities";

export const SCHEDULE_LABEL = "tidegate.dev/schedule";
// A backup takes its time in the queue and to run; only after this much more is it late.
const GRACE_SECONDS = 3600;

export type Protection = {
    state: "never" | "late" | "ok";
    age?: number;
    /** How often its schedules promise a backup, in seconds; absent where none covers it. */
    promised?: number;
    schedules: string[];
};

export type Promise_ = { schedule: Schedule; gap: number | undefined };

/** How often each schedule of backups that is not paused runs; worked out once for all volumes. */
export const promises = (schedules: readonly Schedule[], now: number): Promise_[] =>
    schedules
        // One of system backups promises an archive, not that each volume is backed up anew.
        .filter((schedule) => !schedule.spec.paused && !schedule.spec.systemBackup)
        .map((schedule) => {
            const cron = readCron(schedule.spec.schedule);
            return { schedule, gap: cron ? longestGap(cron, now) : undefined };
        });

export function protectionOf(volume: Volume, promised: readonly Promise_[], now: number): Protection {
    const covering = promised.filter(({ schedule }) => covers(schedule.spec.template, volume.metadata.namespace));
    const schedules = covering.map(({ schedule }) => schedule.metadata.name);
    const gaps = covering.map(({ gap }) => gap).filter((gap) => gap !== undefined);
    const gap = gaps.length ? Math.min(...gaps) : undefined;
    const last = time(volume.status.lastBackupAt);
    if (last === undefined) return { state: "never", promised: gap, schedules };
    const age = (now - last) / 1000;
    const late = gap !== undefined && age > gap + GRACE_SECONDS;
    return { state: late ? "late" : "ok", age, promised: gap, schedules };
}

export type Verdict = { tone: "good" | "bad" | "empty"; sentence: string; details: string[] };

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
    schedules: readonly Schedule[];
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
    const promised = promises(found.schedules, now);
    const judged = volumes.map((volume) => ({ volume, ...protectionOf(volume, promised, now) }));
    const never = judged.filter((one) => one.state === "never").map((one) => full(one.volume));
    const late = judged.filter((one) => one.state === "late");
    const down = targets.filter((target) => target.status.available === false).map((target) => target.metadata.name);
    const details: string[] = [];
    if (down.length) details.push(`${plural(down.length, "target does", "targets do")} not answer: ${names(down)}`);
    if (never.length)
        details.push(`${plural(never.length, "volume was", "volumes were")} never backed up: ${names(never)}`);
    if (late.length) {
        const oldest = duration(Math.max(...late.map((one) => one.age ?? 0)));
        const which = names(late.map((one) => full(one.volume)));
        details.push(
            `${plural(late.length, "volume is", "volumes are")} behind schedule, by now ${oldest} old: ${which}`,
        );
    }
    if (found.failed.length) {
        const which = names(found.failed.map((one) => one.metadata.name));
        details.push(`${failures(found.failed)} failed in the last 24 hours: ${which}`);
    }
    if (found.paused) details.push("the queue is paused, and backups wait in it");
    const unsafe = never.length + late.length;
    if (details.length === 0) {
        const all =
            volumes.length === 1 ? "The only volume is" : `All ${volumes.length.toLocaleString("en")} volumes are`;
        return { tone: "good", sentence: `${all} protected.`, details };
    }
    const sentence =
        unsafe > 0
            ? `${unsafe.toLocaleString("en")} of ${plural(volumes.length, "volume")} ${unsafe === 1 ? "needs" : "need"} attention.`
            : `All volumes have a backup, but ${plural(details.length, "thing needs", "things need")} attention.`;
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

import type { Backup, Restore } from "../api/types";
import { command, commands } from "../logic/commands";
import { ofVolume } from "../logic/job_bytes";
import { bytes, duration, percent, plural, rate, time, timeLeft } from "../logic/quantities";
import { meanRate, stalledFor, type Window } from "../logic/rates";
import { ActionButton } from "../parts/actions";
import { backupLink, Link, restoreLink } from "../parts/link";
import { Plot } from "../parts/plot";
import { Card, Screen } from "../parts/screen";
import { Ago, Bar, Phase, Reason } from "../parts/words";
import { now } from "../store/clock";
import { keyOf } from "../store/collection";
import { param, setParams } from "../store/place";
import {
    backups,
    downloads,
    need,
    restores,
    type Transfer,
    transfersDown,
    transfersUp,
    uploads,
} from "../store/resources";
import { down, isMoving, sampled, standsFor, startSampling, up } from "../store/samples";
import { cancelAction, isOver, phaseOf } from "./backup_actions";
import { JobLog } from "./job_log";
import { JobProgress } from "./job_progress";
import { cancelRestoreAction, restoreIsOver, restorePhaseOf } from "./restore_actions";

const BACKUP_UID = "tidegate.dev/backup-uid";
export const RESTORE_UID = "tidegate.dev/restore-uid";
const FINAL = new Set(["Completed", "Failed", "Canceled"]);

const isRunning = (backup: Backup): boolean =>
    !isOver(backup) && backup.status.phase !== "New" && backup.status.phase !== "Queued";

function grouped(transfers: Transfer[], label: string): Map<string, Transfer[]> {
    const groups = new Map<string, Transfer[]>();
    for (const one of transfers) {
        const uid = one.metadata.labels[label] ?? "";
        const group = groups.get(uid);
        if (group) group.push(one);
        else groups.set(uid, [one]);
    }
    return groups;
}

export function RunningScreen() {
    need(backups, restores, ...uploads, ...downloads);
    startSampling();
    const jobs = backups.all().filter(isRunning);
    const back = restores.all().filter((restore) => !restoreIsOver(restore));
    const ups = grouped(transfersUp(), BACKUP_UID);
    const downs = grouped(transfersDown(), RESTORE_UID);
    return (
        <Screen title="Running" command={command("transfer", "get", "--watch")}>
            <Card
                title="Bytes per second"
                end={
                    <span class="legend">
                        <Now label="to the store" of={up} />
                        <Now label="from the store" of={down} second />
                        <span>ten minutes; means before this page was opened</span>
                    </span>
                }
            >
                <div class="body">
                    <Rates />
                </div>
            </Card>
            <Card title={`Backups (${jobs.length})`}>
                {jobs.length === 0 && (
                    <div class="empty">
                        No backup runs. <Link to="/queue">The queue</Link> says what comes next.
                    </div>
                )}
                {jobs.map((backup) => (
                    <BackupJob
                        key={backup.metadata.uid}
                        backup={backup}
                        transfers={ups.get(backup.metadata.uid) ?? []}
                    />
                ))}
            </Card>
            <Card title={`Restores (${back.length})`}>
                {back.length === 0 && <div class="empty">No restore runs.</div>}
                {back.map((restore) => (
                    <RestoreJob
                        key={restore.metadata.uid}
                        restore={restore}
                        transfers={downs.get(restore.metadata.uid) ?? []}
                    />
                ))}
            </Card>
        </Screen>
    );
}

/** A rate of the past may be so high that the present one is a flat line: so it is also said. */
function Now({ label, of, second }: { label: string; of: Window; second?: boolean }) {
    sampled.value;
    const value = of.samples.at(-1)?.value;
    return (
        <span class={second ? "key second" : "key"}>
            {label}
            {value ? ` ${rate(value)}` : ""}
        </span>
    );
}

function Rates() {
    sampled.value;
    const times = up.samples.map((sample) => sample.at / 1000);
    const series = [
        { label: "to the store", values: up.samples.map((sample) => sample.value) },
        { label: "from the store", values: down.samples.map((sample) => sample.value), dashed: true },
    ];
    const latest = (up.samples.at(-1)?.value ?? 0) + (down.samples.at(-1)?.value ?? 0);
    return (
        <Plot
            label={`Bytes per second over ten minutes, now ${rate(latest)}`}
            times={times}
            series={series}
            span={600}
            least={1024 * 1024}
            binary
            format={(value) => `${bytes(value)}/s`}
        />
    );
}

/** One log at a time; which, is in the address. */
function LogButton({ of }: { of: string }) {
    const open = param("log") === of;
    return (
        <button
            class="button small"
            aria-expanded={open}
            aria-label={`Log of ${of.slice(of.indexOf("/") + 1)}`}
            onClick={() => setParams({ log: open ? null : of })}
        >
            {open ? "Hide the log" : "Log"}
        </button>
    );
}

function BackupJob({ backup, transfers }: { backup: Backup; transfers: Transfer[] }) {
    const progress = backup.status.progress;
    return (
        <div class="job" data-row={backup.metadata.name}>
            <header>
                <Link class="name" to={backupLink(backup.metadata.name)}>
                    {backup.metadata.name}
                </Link>
                <Phase phase={phaseOf(backup)} />
                {progress && (
                    <span class="muted">
                        {progress.itemsBackedUp} of {plural(progress.totalItems, "item")}
                    </span>
                )}
                <span class="muted">
                    started <Ago time={backup.status.startTimestamp} none="not yet" />
                </span>
                <span class="end row">
                    <LogButton of={`backup/${backup.metadata.name}`} />
                    <ActionButton small action={cancelAction(backup)} />
                </span>
            </header>
            <JobProgress job={backup} />
            <Transfers transfers={transfers} />
            {param("log") === `backup/${backup.metadata.name}` && (
                <JobLog
                    label={`Log of ${backup.metadata.name}`}
                    job={backup}
                    transfers={transfers}
                    command={commands.logs("backup", backup.metadata.name)}
                />
            )}
        </div>
    );
}

function RestoreJob({ restore, transfers }: { restore: Restore; transfers: Transfer[] }) {
    const progress = restore.status.progress;
    return (
        <div class="job" data-row={restore.metadata.name}>
            <header>
                <Link class="name" to={restoreLink(restore.metadata.name)}>
                    {restore.metadata.name}
                </Link>
                <Phase phase={restorePhaseOf(restore)} />
                {progress && (
                    <span class="muted">
                        {progress.itemsRestored} of {plural(progress.totalItems, "item")}
                    </span>
                )}
                <span class="muted">
                    from {restore.spec.backupName ?? restore.spec.backupUrl ?? restore.spec.scheduleName}, started{" "}
                    <Ago time={restore.status.startTimestamp} none="not yet" />
                </span>
                <span class="end row">
                    <LogButton of={`restore/${restore.metadata.name}`} />
                    <ActionButton small action={cancelRestoreAction(restore)} />
                </span>
            </header>
            <JobProgress job={restore} />
            <Transfers transfers={transfers} />
            {param("log") === `restore/${restore.metadata.name}` && (
                <JobLog
                    label={`Log of ${restore.metadata.name}`}
                    job={restore}
                    transfers={transfers}
                    command={commands.logs("restore", restore.metadata.name)}
                />
            )}
        </div>
    );
}

export function Transfers({ transfers }: { transfers: Transfer[] }) {
    const open = transfers.filter((one) => !FINAL.has(one.status.phase));
    const over = transfers.length - open.length;
    return (
        <div>
            {open.map((one) => (
                <Moving key={keyOf(one)} transfer={one} />
            ))}
            {over > 0 && <p class="muted small">{plural(over, "volume is", "volumes are")} done.</p>}
            {transfers.length === 0 && <p class="muted small">It is being worked out which volumes belong to it.</p>}
        </div>
    );
}

function Moving({ transfer }: { transfer: Transfer }) {
    const { spec, status } = transfer;
    const name = `${spec.volumeNamespace}/${spec.volumeName}`;
    const waiting = status.conditions.find((condition) => condition.type === "Waiting");
    if (!isMoving(transfer)) {
        return (
            <div class="moving waits">
                <span title={name}>{name}</span>
                {waiting ? (
                    <span title={waiting.message}>
                        <Reason reason={waiting.reason} /> <span class="muted">{waiting.message}</span>
                    </span>
                ) : (
                    <Phase phase={status.phase} />
                )}
            </div>
        );
    }
    const stands = stalledFor(transfer.status.conditions, standsFor(transfer), now.value);
    if (!status.progress) {
        return (
            <div class="moving waits">
                <span title={name}>{name}</span>
                <span class="muted">starting on {status.node ?? "its node"}</span>
                {stands !== undefined && <Stalled milliseconds={stands} />}
            </div>
        );
    }
    const { stage = "", bytesDone = 0 } = status.progress;
    const { done, size, perSecond } = ofVolume(status.progress, spec.expectedSize);
    const share = percent(done, size);
    // It is done when it says so, not when its last byte has gone out.
    const shown = share === undefined ? undefined : Math.min(share, 99);
    const left = done === size ? undefined : timeLeft(done, size, perSecond);
    const mean = meanRate(bytesDone, time(status.startTimestamp), now.value);
    return (
        <div class="moving">
            <span class="what" title={`${name}: ${stage} on ${status.node ?? "a node"}`}>
                <span>{name}</span>
                <span class="muted">
                    {stage}
                    {status.node && ` on ${status.node}`}
                </span>
            </span>
            <Bar percent={shown} label={`Bytes of ${name}`} stalled={stands !== undefined} />
            <span class="end">{shown === undefined ? "" : `${shown} %`}</span>
            <span class="end">{size === undefined ? bytes(done) : `${bytes(done)} of ${bytes(size)}`}</span>
            <span class="end" title="now, and over the whole time">
                {rate(perSecond)} <span class="muted">⌀ {rate(mean)}</span>
            </span>
            <span class="end">
                {stands !== undefined ? (
                    <Stalled milliseconds={stands} />
                ) : left === undefined ? (
                    ""
                ) : (
                    `${duration(left)} left`
                )}
            </span>
        </div>
    );
}

const Stalled = ({ milliseconds }: { milliseconds: number }) => (
    <b class="phase" data-tone="warn" title="It should move, and nothing of it does. It is stopped if that goes on.">
        stalled {duration(milliseconds / 1000)}
    </b>
);

// One system backup or system restore: its steps, and the volumes as a table.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { get, pathOf } from "../api/client";
import type { Condition, SystemBackup, SystemBackupVolume, SystemRestore } from "../api/types";
import { command } from "../logic/commands";
import { bytes, duration, plural, time, timeLeft } from "../logic/quantities";
import { backupSteps, policyWords, restoreSteps, systemIsOver, volumesDone } from "../logic/system";
import { ActionButton } from "../parts/actions";
import { Command } from "../parts/command";
import { backupLink, Link, restoreLink } from "../parts/link";
import { Card } from "../parts/screen";
import { Stepper } from "../parts/stepper";
import { Ago, At, Phase, Reason } from "../parts/words";
import { now } from "../store/clock";
import type { Collection } from "../store/collection";
import { isDraft } from "../store/operations";
import { backups, need, systemBackups, systemRestores, transfersUp, uploads } from "../store/resources";
import { JobProgress } from "./job_progress";
import { systemBackupActions, systemRestoreActions } from "./system_actions";

const BACKUP_UID = "tidegate.dev/backup-uid";
const MOST_ROWS = 500;

/** As the server tells it now: how each volume stands is derived there, and is not in the news. */
function useNow<T extends SystemBackup | SystemRestore>(collection: Collection<T>, name: string): T | undefined {
    const asked = useSignal<{ version: string; found: T } | null>(null);
    const held = collection.get(name);
    const version = held?.metadata.resourceVersion;
    const tick = held && !systemIsOver(held.status.phase) ? Math.floor(now.value / 2000) : 0;
    useEffect(() => {
        if (!version || isDraft(held)) return;
        get<T>(pathOf(collection.plural, name)).then(
            (found) => (asked.value = { version, found }),
            () => undefined, // the banner tells it, or the list that it is gone
        );
    }, [name, version, tick]);
    const known = asked.value;
    // What was asked for at this version is as new or newer.
    const isNow = known && [known.version, known.found.metadata.resourceVersion].includes(version ?? "");
    return held && isNow && known.found.metadata.uid === held.metadata.uid ? known.found : held;
}

function Missing({ what, loaded }: { what: string; loaded: boolean }) {
    return (
        <div class="card empty">
            {loaded ? `There is no ${what}; it may have been deleted.` : "Loading it from the server…"}
        </div>
    );
}

function Waits({ conditions }: { conditions: Condition[] }) {
    const waiting = conditions.find((one) => one.type === "Waiting" && one.status === "True");
    return waiting ? (
        <p>
            <Reason reason={waiting.reason} /> {waiting.message}
        </p>
    ) : null;
}

const Failure = ({ reason }: { reason: string | undefined }) => (reason ? <p class="problem">{reason}</p> : null);

const Close = () => (
    <Link to="/system" class="button small">
        Close
    </Link>
);

export function SystemBackupDetail({ name }: { name: string }) {
    need(systemBackups, backups, ...uploads);
    const system = useNow(systemBackups, name);
    if (!system) return <Missing what={`system backup ${name}`} loaded={systemBackups.loaded.value} />;
    const { status } = system;
    const steps = backupSteps(system);
    return (
        <Card
            title={name}
            label={`System backup ${name}`}
            end={
                <>
                    {systemBackupActions(system).map((action) => (
                        <ActionButton key={action.label} small action={action} />
                    ))}
                    <Close />
                </>
            }
        >
            <div class="body stack">
                {steps.length > 0 ? (
                    <Stepper label={`Steps of ${name}`} steps={steps} />
                ) : (
                    <Phase phase={status.phase} />
                )}
                <Waits conditions={status.conditions} />
                <Failure reason={status.failureReason} />
                {!systemIsOver(status.phase) && <JobProgress job={system} />}
                <dl class="facts">
                    <dt>Policy</dt>
                    <dd>{policyWords(system)}</dd>
                    <dt>Archive</dt>
                    <dd class="break">{status.url || "not written yet"}</dd>
                    {status.size !== undefined && (
                        <>
                            <dt>Size</dt>
                            <dd>
                                {bytes(status.size)} <span class="muted small break">SHA-256 {status.checksum}</span>
                            </dd>
                        </>
                    )}
                    <dt>Taken</dt>
                    <dd>
                        <At time={status.createdAt} />
                    </dd>
                    {!systemIsOver(status.phase) && status.deadline && (
                        <>
                            <dt>This step ends</dt>
                            <dd>
                                at the latest <Ago time={status.deadline} />
                            </dd>
                        </>
                    )}
                </dl>
                <Command text={command("system", "backup", "describe", name)} />
            </div>
            {status.volumes.length > 0 && <BackedUp system={system} />}
        </Card>
    );
}

function VolumeTable({ label, heads, children }: { label: string; heads: string[]; children: ComponentChildren }) {
    return (
        <div class="table-wrap" tabIndex={0} role="region" aria-label={label}>
            <table>
                <thead>
                    <tr>
                        {heads.map((head) => (
                            <th key={head} scope="col">
                                {head}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>{children}</tbody>
            </table>
        </div>
    );
}

function BackedUp({ system }: { system: SystemBackup }) {
    const { volumes } = system.status;
    const [done, made] = volumesDone(system);
    return (
        <>
            <p class="body">
                {made ? `${done} of ${plural(made, "volume backup")} done` : "No volume had to be backed up"};{" "}
                {plural(volumes.length, "volume")} in all.
            </p>
            <VolumeTable
                label={`Volumes of ${system.metadata.name}`}
                heads={["Volume", "Decision", "Backup", "State", "Time left", "Why"]}
            >
                {volumes.slice(0, MOST_ROWS).map((row) => (
                    <tr key={row.volume} data-volume={row.volume} data-decision={row.decision} data-state={row.state}>
                        <td>{row.volume}</td>
                        <td>{row.decision}</td>
                        <td>{row.backup ? <Link to={backupLink(row.backup)}>{row.backup}</Link> : "–"}</td>
                        <td>{row.state ? <Phase phase={row.state} /> : <span class="muted">–</span>}</td>
                        <td>
                            <Left row={row} deadline={system.status.deadline} />
                        </td>
                        <td class="wide" title={row.message || row.reason}>
                            {row.message || row.reason}
                        </td>
                    </tr>
                ))}
            </VolumeTable>
            {volumes.length > MOST_ROWS && <p class="body muted">and {volumes.length - MOST_ROWS} more volumes</p>}
        </>
    );
}

/** As long as its bytes will take at their present rate; where that is not known, as long as it may take. */
function Left({ row, deadline }: { row: SystemBackupVolume; deadline: string | undefined }) {
    if (row.state !== "Waiting" && row.state !== "InProgress") return <span class="muted">–</span>;
    const uid = row.backup ? backups.get(row.backup)?.metadata.uid : undefined;
    const progress = uid
        ? transfersUp().find((one) => one.metadata.labels[BACKUP_UID] === uid)?.status.progress
        : undefined;
    const left = progress && timeLeft(progress.bytesDone ?? 0, progress.totalBytes, progress.bytesPerSecond);
    if (left !== undefined) return <>{duration(left)}</>;
    const most = time(deadline);
    return (
        <span class="muted">{most === undefined ? "unknown" : `at most ${duration((most - now.value) / 1000)}`}</span>
    );
}

export function SystemRestoreDetail({ name }: { name: string }) {
    need(systemRestores);
    const system = useNow(systemRestores, name);
    if (!system) return <Missing what={`system restore ${name}`} loaded={systemRestores.loaded.value} />;
    const { status } = system;
    const done = status.definitions.filter((one) => one.done).length;
    return (
        <Card
            title={name}
            label={`System restore ${name}`}
            end={
                <>
                    {systemRestoreActions(system).map((action) => (
                        <ActionButton key={action.label} small action={action} />
                    ))}
                    <Close />
                </>
            }
        >
            <div class="body stack">
                <Stepper label={`Steps of ${name}`} steps={restoreSteps(system)} />
                <Waits conditions={status.conditions} />
                <Failure reason={status.failureReason} />
                {!systemIsOver(status.phase) && <JobProgress job={system} />}
                <dl class="facts">
                    <dt>From</dt>
                    <dd class="break">{status.sourceUrl || system.spec.systemBackup}</dd>
                    <dt>Data of volumes</dt>
                    <dd>{system.spec.volumes}</dd>
                    <dt>Definitions</dt>
                    <dd>
                        {done} of {status.definitions.length} done
                    </dd>
                    <dt>Ended</dt>
                    <dd>
                        <At time={status.completionTimestamp} />
                    </dd>
                </dl>
                <Command text={command("system", "restore", "describe", name)} />
            </div>
            {status.volumes.length > 0 && (
                <VolumeTable label={`Volumes of ${name}`} heads={["Volume", "State", "Restore", "Why"]}>
                    {status.volumes.slice(0, MOST_ROWS).map((row) => (
                        <tr key={row.volume} data-volume={row.volume} data-state={row.state}>
                            <td>{row.volume}</td>
                            <td>
                                <Phase phase={row.state} />
                            </td>
                            <td>{row.restore ? <Link to={restoreLink(row.restore)}>{row.restore}</Link> : "–"}</td>
                            <td class="wide" title={row.reason || row.backupUrl}>
                                {row.reason || row.backupUrl}
                            </td>
                        </tr>
                    ))}
                </VolumeTable>
            )}
        </Card>
    );
}

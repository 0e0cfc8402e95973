import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api/client";
import type { Backup } from "../api/types";
import { commands } from "../logic/commands";
import { bytes, duration, newInStore, plural } from "../logic/quantities";
import { toYaml } from "../logic/yaml";
import { waterfall } from "../logic/waterfall";
import { ActionButton } from "../parts/actions";
import { Card, Screen } from "../parts/screen";
import { Ago, At, Namespaces, Phase, Reason } from "../parts/words";
import { backups, need, restores, type Transfer } from "../store/resources";
import { storedBytes, untilKnown } from "../store/catalogue";
import { now } from "../store/clock";
import { isOver, isPinned, phaseOf } from "./backup_actions";
import { Chain } from "./backup_chain";
import { Files } from "./backup_files";
import { Proof } from "./backup_proof";
import { actionsOf } from "./backups";
import { JobLog } from "./job_log";
import { JobProgress } from "./job_progress";
import { AskedBy } from "./queue_running";
import { Transfers } from "./running";
import { TransferTable } from "./transfer_table";

const KINDS = ["datauploads", "podvolumebackups"];
const MOST_LINES = 30;

/** The uploads of one backup, asked for by its uid: a server with years of history sends only these. */
function useUploads(backup: Backup | undefined): Transfer[] {
    const found = useSignal<Transfer[]>([]);
    const uid = backup?.metadata.uid;
    const version = backup?.metadata.resourceVersion;
    const moving = backup?.status.phase === "InProgress" ? Math.floor(now.value / 2000) : 0;
    useEffect(() => {
        if (!uid) return;
        const selector = encodeURIComponent(`tidegate.dev/backup-uid=${uid}`);
        const ask = (plural: string) => get<{ data: Transfer[] }>(`/v1/${plural}?labelSelector=${selector}`);
        void Promise.all(KINDS.map(ask))
            .then((pages) => (found.value = pages.flatMap((page) => page.data)))
            .catch(() => undefined); // the banner tells it; the next change asks again
    }, [uid, version, moving]);
    return found.value;
}

export function BackupScreen({ name }: { name: string }) {
    need(backups, restores);
    const backup = backups.get(name);
    const uploads = useUploads(backup);
    if (!backup) {
        return (
            <Screen title={name}>
                <div class="card empty">
                    {backups.loaded.value
                        ? `There is no backup ${name}; it may have been deleted.`
                        : "Loading the backup from the server…"}
                </div>
            </Screen>
        );
    }
    return (
        <Screen
            title={name}
            command={commands.describeBackup(name)}
            actions={actionsOf(backup).map((action) => (
                <ActionButton key={action.label} action={action} />
            ))}
        >
            {!isOver(backup) && backup.status.progress && (
                <Card title="Progress">
                    <div class="body">
                        <JobProgress job={backup} />
                        <p class="muted">{itemsOf(backup)}</p>
                    </div>
                </Card>
            )}
            <div class="grid">
                <Facts backup={backup} />
                <Sizes backup={backup} uploads={uploads} />
            </div>
            <Files backup={backup} uploads={uploads} />
            <div class="grid">
                <Proof backup={backup} />
                <Chain uploads={uploads} />
            </div>
            <Waterfall backup={backup} uploads={uploads} />
            <Volumes backup={backup} uploads={uploads} />
            <Events backup={backup} uploads={uploads} />
            <Source backup={backup} />
        </Screen>
    );
}

function itemsOf({ status }: Backup): string {
    const counted = status.progress;
    return counted
        ? `${counted.itemsBackedUp} of ${plural(counted.totalItems, "item")} backed up`
        : "it is being worked out which volumes belong to it";
}

function Facts({ backup }: { backup: Backup }) {
    const { spec, status, metadata } = backup;
    const waiting = status.conditions.find((condition) => condition.type === "Waiting");
    return (
        <Card title="Facts">
            <dl class="facts body">
                <dt>Phase</dt>
                <dd>
                    <Phase phase={phaseOf(backup)} />
                    {isPinned(backup) && (
                        <>
                            {" "}
                            <span class="chip">pinned</span>
                        </>
                    )}
                </dd>
                {waiting && (
                    <>
                        <dt>Waits because</dt>
                        <dd>
                            <Reason reason={waiting.reason} /> {waiting.message}
                        </dd>
                    </>
                )}
                {status.failureReason && (
                    <>
                        <dt>Failed because</dt>
                        <dd>{status.failureReason}</dd>
                    </>
                )}
                {!status.failureReason && (status.unmatched ?? []).length > 0 && (
                    <>
                        <dt>Not found</dt>
                        <dd>{status.unmatched.join("; ")}</dd>
                    </>
                )}
                {status.validationErrors.length > 0 && (
                    <>
                        <dt>Not valid</dt>
                        <dd>{status.validationErrors.join("; ")}</dd>
                    </>
                )}
                <dt>Namespaces</dt>
                <dd>
                    <Namespaces scope={spec} most={20} />
                </dd>
                <dt>Asked by</dt>
                <dd>
                    <AskedBy backup={backup} />
                </dd>
                <dt>Target</dt>
                <dd>{spec.storageLocation || "the default one"}</dd>
                <dt>Asked for</dt>
                <dd>
                    <At time={metadata.creationTimestamp} />
                </dd>
                <dt>Started</dt>
                <dd>
                    <At time={status.startTimestamp} />
                </dd>
                <dt>Ended</dt>
                <dd>
                    <At time={status.completionTimestamp} />
                </dd>
                <dt>Kept until</dt>
                <dd>{isPinned(backup) ? "for ever: it is pinned" : <At time={status.expiration} />}</dd>
                <dt>Priority</dt>
                <dd>{spec.priority}</dd>
                <dt>Errors</dt>
                <dd>
                    {plural(status.errors, "error")}, {plural(status.warnings, "warning")}
                </dd>
            </dl>
        </Card>
    );
}

function Sizes({ backup, uploads }: { backup: Backup; uploads: Transfer[] }) {
    const results = uploads.flatMap((one) => (one.status.result ? [one.status.result] : []));
    const sum = (pick: (result: (typeof results)[number]) => number) =>
        results.reduce((total, result) => total + pick(result), 0);
    const logical = sum((result) => result.size);
    const fresh = sum((result) => result.newBytes);
    const warnings = results.flatMap((result) => result.warnings);
    // As long as it runs, what ended of it is not its size.
    const told = backup.status.bytes;
    const expected =
        told?.total === undefined ? "–" : `${told.volumesNotMeasured ? "at least " : ""}${bytes(told.total)}`;
    const stored = useSignal<number | string>("asking the catalogue…");
    useEffect(
        () =>
            untilKnown(async () => {
                const found = await storedBytes(backup).catch(() => null);
                // The catalogue may be behind: what it does not know is not told as zero.
                stored.value = found ?? "not known to the catalogue yet";
                return found !== null || results.length === 0;
            }),
        [results.length],
    );
    return (
        <Card title="Sizes">
            <dl class="facts body">
                <dt>Volumes</dt>
                <dd>{uploads.length}</dd>
                <dt>Size</dt>
                <dd>{isOver(backup) ? bytes(logical) : expected}</dd>
                <dt>New in the store</dt>
                <dd>{isOver(backup) ? newInStore(fresh, logical) : <span class="muted">known at its end</span>}</dd>
                <dt>Stored</dt>
                <dd title="Also the blocks that other backups share.">
                    {typeof stored.value === "number" ? bytes(stored.value) : <span class="muted">{stored.value}</span>}
                    {typeof stored.value === "number" && (
                        <span class="muted"> in whole blocks, before compression</span>
                    )}
                </dd>
                <dt>Items</dt>
                <dd>{itemsOf(backup)}</dd>
                {warnings.length > 0 && (
                    <>
                        <dt>Warnings</dt>
                        <dd>{warnings.slice(0, 5).join("; ")}</dd>
                    </>
                )}
            </dl>
        </Card>
    );
}

function Waterfall({ backup, uploads }: { backup: Backup; uploads: Transfer[] }) {
    const lines = waterfall(backup, uploads, now.value);
    const from = Math.min(...lines.flatMap((line) => line.stages.map((stage) => stage.from)));
    const to = Math.max(...lines.flatMap((line) => line.stages.map((stage) => stage.to)), from + 1);
    const share = (length: number) => `${(length * 100) / (to - from)}%`;
    return (
        <Card title="Where the time went" end={<span class="legend">queued · preparing · moving · finalising</span>}>
            <ul class="body waterfall">
                {lines.slice(0, MOST_LINES).map((line, index) => (
                    <li key={`${line.name}${index}`}>
                        <span class={index === 0 ? "name" : "muted"}>{index === 0 ? "the whole" : line.name}</span>
                        <span class="track">
                            {line.stages.map((stage) => (
                                <i
                                    key={stage.stage}
                                    data-stage={stage.stage}
                                    style={{ left: share(stage.from - from), width: share(stage.to - stage.from) }}
                                    title={`${stage.stage} ${duration((stage.to - stage.from) / 1000)}`}
                                />
                            ))}
                        </span>
                        <span class="number">
                            {line.total < 1000 ? `${Math.round(line.total)} ms` : duration(line.total / 1000)}
                        </span>
                    </li>
                ))}
                {lines.length > MOST_LINES && <li class="muted">and {lines.length - MOST_LINES} more volumes</li>}
            </ul>
        </Card>
    );
}

function Volumes({ backup, uploads }: { backup: Backup; uploads: Transfer[] }) {
    const running = backup.status.phase === "InProgress" || backup.status.phase === "ReadyToStart";
    return (
        <Card title={`Volumes (${uploads.length})`}>
            {running && (
                <div class="body">
                    <Transfers transfers={uploads} />
                </div>
            )}
            {uploads.length > 0 ? (
                <TransferTable of="backup" transfers={uploads} />
            ) : (
                <div class="body muted">No volume has been moved{backup.status.completionTimestamp ? "" : " yet"}.</div>
            )}
        </Card>
    );
}

function Events({ backup, uploads }: { backup: Backup; uploads: Transfer[] }) {
    const events = [...backup.status.events].reverse();
    const log = useSignal(false);
    const name = backup.metadata.name;
    return (
        <Card
            title="Events"
            end={
                <button class="button small" aria-expanded={log.value} onClick={() => (log.value = !log.value)}>
                    {log.value ? "Hide the log" : "Log"}
                </button>
            }
        >
            {log.value && (
                <div class="body">
                    <JobLog
                        label={`Log of ${name}`}
                        job={backup}
                        transfers={uploads}
                        command={commands.logs("backup", name)}
                    />
                </div>
            )}
            <ul class="body events">
                {events.length === 0 && <li class="muted">Nothing has happened yet.</li>}
                {events.map((event) => (
                    <li key={`${event.reason}${event.lastTimestamp}`}>
                        <span class="muted">
                            <Ago time={event.lastTimestamp} />
                        </span>
                        <span>
                            <Phase phase={event.type === "Warning" ? "Late" : "calm"} words={event.reason} />
                            {event.count > 1 && <span class="muted"> ×{event.count}</span>}
                        </span>
                        <span>{event.message}</span>
                    </li>
                ))}
            </ul>
        </Card>
    );
}

function Source({ backup }: { backup: Backup }) {
    const open = useSignal(false);
    return (
        <Card
            title="YAML"
            end={
                <button class="button small" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
                    {open.value ? "Hide" : "Show"}
                </button>
            }
        >
            {open.value && (
                <pre class="source" tabIndex={0}>
                    {toYaml(backup)}
                </pre>
            )}
        </Card>
    );
}

// One restore: what it brings back, how far each volume is, and what went wrong in full.

import type { Restore } from "../api/types";
import { commands } from "../logic/commands";
import { ActionButton } from "../parts/actions";
import { Command } from "../parts/command";
import { backupLink, Link } from "../parts/link";
import { Card } from "../parts/screen";
import { At, Phase } from "../parts/words";
import { param, setParams } from "../store/place";
import { restores, transfersDown } from "../store/resources";
import { JobLog } from "./job_log";
import { JobProgress } from "./job_progress";
import { restoreActions, restoreIsOver, restorePhaseOf } from "./restore_actions";
import { RESTORE_UID, Transfers } from "./running";
import { TransferTable } from "./transfer_table";

/** The one that is in the address. */
export function RestoreDetail() {
    const name = param("open");
    if (!name) return null;
    const restore = restores.get(name);
    const close = (
        <button class="button small" onClick={() => setParams({ open: null })}>
            Close
        </button>
    );
    if (!restore)
        return (
            <Card title={name} end={close}>
                <div class="empty">
                    {restores.loaded.value ? "There is no restore of this name (any more)." : "Asking the server…"}
                </div>
            </Card>
        );
    const transfers = transfersDown().filter((one) => one.metadata.labels[RESTORE_UID] === restore.metadata.uid);
    return (
        <Card
            title={name}
            label={`Restore ${name}`}
            end={
                <span class="row">
                    {restoreActions(restore).map((action) => (
                        <ActionButton key={action.label} small action={action} />
                    ))}
                    {close}
                </span>
            }
        >
            <div class="body stack">
                <Facts restore={restore} />
                <Command text={commands.describeRestore(name)} />
                {!restoreIsOver(restore) && (
                    <>
                        <JobProgress job={restore} />
                        <Transfers transfers={transfers} />
                    </>
                )}
            </div>
            {transfers.length > 0 && <TransferTable of="restore" transfers={transfers} />}
            <div class="body">
                <JobLog
                    label={`Log of ${name}`}
                    job={restore}
                    transfers={transfers}
                    command={commands.logs("restore", name)}
                />
            </div>
        </Card>
    );
}

function Facts({ restore: { spec, status, ...restore } }: { restore: Restore }) {
    return (
        <dl class="facts">
            <dt>Phase</dt>
            <dd>
                <Phase phase={restorePhaseOf({ spec, status, ...restore })} />
            </dd>
            {status.failureReason && (
                <>
                    <dt>Failed because</dt>
                    <dd>{status.failureReason}</dd>
                </>
            )}
            <dt>From</dt>
            <dd>
                {spec.backupName ? (
                    <Link to={backupLink(spec.backupName)}>{spec.backupName}</Link>
                ) : (
                    (spec.scheduleName ?? spec.backupUrl)
                )}
            </dd>
            <dt>To</dt>
            <dd>{spec.destination ?? "where it came from"}</dd>
            <dt>Asked for</dt>
            <dd>
                <At time={restore.metadata.creationTimestamp} />
            </dd>
            <dt>Started</dt>
            <dd>
                <At time={status.startTimestamp} />
            </dd>
            <dt>Ended</dt>
            <dd>
                <At time={status.completionTimestamp} />
            </dd>
        </dl>
    );
}

import type { Backup } from "../api/types";
import { plural } from "../logic/quantities";
import { ActionButton, ActionMenu } from "../parts/actions";
import { backupLink, Link } from "../parts/link";
import { Ago, Namespaces, Phase } from "../parts/words";
import { SCHEDULE_LABEL } from "../logic/protection";
import { backups } from "../store/resources";
import { cancelAction, deleteAction, phaseOf } from "./backup_actions";
import { JobShare } from "./job_progress";
import { lit } from "./queue";

const REQUESTED_BY = "tidegate.dev/requested-by";

export function AskedBy({ backup }: { backup: Backup | undefined }) {
    const schedule = backup?.metadata.labels[SCHEDULE_LABEL];
    const who = backup?.metadata.annotations[REQUESTED_BY];
    if (!schedule) return <span class={who ? "" : "muted"}>{who ?? "a person"}</span>;
    return (
        <>
            <Link to={`/schedules?q=${encodeURIComponent(schedule)}`}>{schedule}</Link>
            {who && <span class="muted"> by {who}</span>}
        </>
    );
}

export function RunningLane({ names, limit }: { names: readonly string[]; limit: number }) {
    if (names.length === 0) {
        return (
            <div class="empty">
                <span>Nothing runs; {plural(limit, "slot is", "slots are")} free.</span>
            </div>
        );
    }
    return (
        <div class="table-wrap" tabIndex={0} role="region" aria-label="Running backups">
            <table>
                <thead>
                    <tr>
                        <th scope="col">Backup</th>
                        <th scope="col">Phase</th>
                        <th scope="col" class="secondary">
                            Namespaces
                        </th>
                        <th scope="col" class="secondary">
                            Asked by
                        </th>
                        <th scope="col" class="secondary number">
                            Started
                        </th>
                        <th scope="col" class="secondary">
                            Done
                        </th>
                        <th scope="col">
                            <span class="hidden-label">Actions</span>
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {names.map((name) => (
                        <Running key={name} name={name} backup={backups.get(name)} />
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function Running({ name, backup }: { name: string; backup: Backup | undefined }) {
    const progress = backup?.status.progress;
    return (
        <tr data-row={name} id={`backup-${name}`}>
            <td>
                <Link class="name" to={backupLink(name)}>
                    {name}
                </Link>
            </td>
            <td>{backup && <Phase phase={phaseOf(backup)} />}</td>
            <td class="secondary">
                {backup && <Namespaces scope={backup.spec} lit={(chip) => lit.value.has(chip)} />}
            </td>
            <td class="secondary">
                <AskedBy backup={backup} />
            </td>
            <td class="secondary number">
                <Ago time={backup?.status.startTimestamp} none="not yet" />
            </td>
            <td class="secondary">
                {backup && progress ? (
                    <>
                        <JobShare job={backup} />
                        <span class="muted small">
                            {progress.itemsBackedUp} of {plural(progress.totalItems, "item")}
                        </span>
                    </>
                ) : (
                    <span class="muted">being counted</span>
                )}
            </td>
            <td class="actions">
                {backup && <ActionButton small action={cancelAction(backup)} />}
                {backup && <ActionMenu of={name} actions={() => [cancelAction(backup), deleteAction(backup)]} />}
            </td>
        </tr>
    );
}

import type { SystemBackup, SystemRestore } from "../api/types";
import { command } from "../logic/commands";
import { bytes, time } from "../logic/quantities";
import { policyWords, volumesDone } from "../logic/system";
import { ActionMenu } from "../parts/actions";
import { Link } from "../parts/link";
import { Card, Screen } from "../parts/screen";
import { type Column, FilterBox, Table } from "../parts/table";
import { Ago, Phase } from "../parts/words";
import { isDraft } from "../store/operations";
import { param } from "../store/place";
import { need, systemBackups, systemRestores, targets } from "../store/resources";
import { mayAct } from "../store/session";
import { openSystemBackupForm, systemBackupActions, systemRestoreActions } from "./system_actions";
import { SystemBackupDetail, SystemRestoreDetail } from "./system_detail";

const phaseOf = (system: SystemBackup | SystemRestore): string =>
    system.metadata.deletionTimestamp ? "Deleting" : system.status.phase;

const created = <T extends SystemBackup | SystemRestore>(row: T): number | undefined =>
    time(row.metadata.creationTimestamp);

function Volumes({ system }: { system: SystemBackup | SystemRestore }) {
    const [done, all] = volumesDone(system);
    return all ? (
        <>
            {done} of {all}
        </>
    ) : (
        <span class="muted">–</span>
    );
}

const BACKUPS: Column<SystemBackup>[] = [
    {
        key: "name",
        title: "System backup",
        sort: (row) => row.metadata.name,
        cell: (row) => (
            <Link class="name" to={`/system?backup=${encodeURIComponent(row.metadata.name)}`}>
                {row.metadata.name}
            </Link>
        ),
    },
    {
        key: "phase",
        title: "Phase",
        sort: phaseOf,
        cell: (row) => (
            <span title={row.status.failureReason}>
                <Phase phase={phaseOf(row)} />
            </span>
        ),
    },
    {
        key: "policy",
        title: "Backs up first",
        secondary: true,
        sort: policyWords,
        cell: policyWords,
    },
    { key: "volumes", title: "Volumes", number: true, cell: (row) => <Volumes system={row} /> },
    {
        key: "target",
        title: "Target",
        secondary: true,
        sort: (row) => row.spec.target,
        cell: (row) => row.spec.target,
    },
    {
        key: "size",
        title: "Archive",
        number: true,
        secondary: true,
        sort: (row) => row.status.size,
        cell: (row) => (row.status.size === undefined ? <span class="muted">–</span> : bytes(row.status.size)),
    },
    {
        key: "created",
        title: "Taken",
        number: true,
        sort: (row) => time(row.status.createdAt) ?? created(row),
        cell: (row) => <Ago time={row.status.createdAt ?? row.metadata.creationTimestamp} />,
    },
    {
        key: "actions",
        title: "",
        class: "actions",
        cell: (row) => <ActionMenu of={row.metadata.name} actions={() => systemBackupActions(row)} />,
    },
];

export function SystemScreen() {
    need(systemBackups, systemRestores, targets);
    return (
        <Screen
            title="System backups"
            command={command("system", "backup", "get")}
            actions={
                <>
                    <FilterBox label="Filter system backups" />
                    {mayAct.value && (
                        <button class="button primary" onClick={openSystemBackupForm}>
                            Back up the system
                        </button>
                    )}
                </>
            }
        >
            <Opened />
            <div class="card">
                <Table
                    label="System backups"
                    noun="system backup"
                    rows={systemBackups.all()}
                    columns={BACKUPS}
                    keyOf={(row) => row.metadata.name}
                    text={(row) => `${row.metadata.name} ${phaseOf(row)} ${row.spec.target}`}
                    sort={{ column: "created", down: true }}
                    loaded={systemBackups.loaded.value}
                    rowProps={(row) => ({
                        "data-phase": phaseOf(row),
                        "data-pending": isDraft(row) ? "true" : undefined,
                    })}
                    empty={
                        <>
                            <strong>No system backup yet.</strong>
                            <span>
                                One archive of all settings, targets, volumes and schedules: what a new machine needs.
                            </span>
                            {mayAct.value && (
                                <button class="button primary" onClick={openSystemBackupForm}>
                                    Back up the system
                                </button>
                            )}
                        </>
                    }
                />
            </div>
            <Restores />
        </Screen>
    );
}

/** The one that the address names; else one that is under way. */
function Opened() {
    const backup = param("backup");
    const restore = param("restore");
    if (backup) return <SystemBackupDetail key={`backup/${backup}`} name={backup} />;
    if (restore) return <SystemRestoreDetail key={`restore/${restore}`} name={restore} />;
    const back = systemRestores.all().find((one) => !one.status.completionTimestamp);
    if (back) return <SystemRestoreDetail key={`restore/${back.metadata.name}`} name={back.metadata.name} />;
    const going = systemBackups
        .all()
        .find((one) => !one.status.completionTimestamp && !["Syncing", "Ready", "Error"].includes(one.status.phase));
    return going ? <SystemBackupDetail key={`backup/${going.metadata.name}`} name={going.metadata.name} /> : null;
}

function Restores() {
    const all = [...systemRestores.all()].sort((a, b) => (created(b) ?? 0) - (created(a) ?? 0));
    return (
        <Card title={`System restores (${all.length})`}>
            {all.length === 0 ? (
                <div class="body muted">The system was never restored from here.</div>
            ) : (
                <div class="table-wrap" tabIndex={0} role="region" aria-label="System restores">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">System restore</th>
                                <th scope="col">Phase</th>
                                <th scope="col">From</th>
                                <th scope="col" class="number">
                                    Volumes
                                </th>
                                <th scope="col" class="number secondary">
                                    Asked for
                                </th>
                                <th scope="col">
                                    <span class="hidden-label">Actions</span>
                                </th>
                            </tr>
                        </thead>
                        <tbody>
                            {all.slice(0, 100).map((row) => (
                                <tr
                                    key={row.metadata.uid}
                                    data-row={row.metadata.name}
                                    data-phase={phaseOf(row)}
                                    data-pending={isDraft(row) ? "true" : undefined}
                                >
                                    <td>
                                        <Link
                                            class="name"
                                            to={`/system?restore=${encodeURIComponent(row.metadata.name)}`}
                                        >
                                            {row.metadata.name}
                                        </Link>
                                    </td>
                                    <td>
                                        <span title={row.status.failureReason}>
                                            <Phase phase={phaseOf(row)} />
                                        </span>
                                    </td>
                                    <td class="wide" title={row.spec.systemBackup}>
                                        {row.spec.systemBackup}
                                    </td>
                                    <td class="number">
                                        <Volumes system={row} />
                                    </td>
                                    <td class="number secondary">
                                        <Ago time={row.metadata.creationTimestamp} />
                                    </td>
                                    <td class="actions">
                                        <ActionMenu of={row.metadata.name} actions={() => systemRestoreActions(row)} />
                                    </td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
        </Card>
    );
}

import type { Backup } from "../api/types";
import { command } from "../logic/commands";
import { chipsOf } from "../logic/globs";
import { SCHEDULE_LABEL } from "../logic/protection";
import { bytes, duration, time } from "../logic/quantities";
import { type Action, ActionMenu } from "../parts/actions";
import { backupLink, Link } from "../parts/link";
import { Screen } from "../parts/screen";
import { type Column, FilterBox, Table } from "../parts/table";
import { Ago, Namespaces, Phase } from "../parts/words";
import { isDraft } from "../store/operations";
import { backups, need, restores, targets } from "../store/resources";
import { mayAct } from "../store/session";
import {
    canRestore,
    cancelAction,
    deleteAction,
    isGoing,
    isOver,
    isPinned,
    openBackupForm,
    phaseOf,
    pinAction,
} from "./backup_actions";
import { restoreAction } from "./restore_wizard";
import { AskedBy } from "./queue_running";

export function actionsOf(backup: Backup): Action[] {
    if (isGoing(backup)) return [];
    return [
        ...(canRestore(backup) ? [restoreAction(backup)] : []),
        ...(isOver(backup) ? [] : [cancelAction(backup)]),
        pinAction(backup),
        deleteAction(backup),
    ];
}

function took(backup: Backup): number | undefined {
    const from = time(backup.status.startTimestamp);
    const to = time(backup.status.completionTimestamp);
    return from === undefined || to === undefined ? undefined : (to - from) / 1000;
}

/** Of all its volumes; one that ended has the size of what it backed up. */
const sizeOf = ({ status }: Backup): number | undefined =>
    status.completionTimestamp ? status.bytes?.done : status.bytes?.total;

const COLUMNS: Column<Backup>[] = [
    {
        key: "name",
        title: "Backup",
        sort: (row) => row.metadata.name,
        cell: (row) => (
            <>
                <Link class="name" to={backupLink(row.metadata.name)}>
                    {row.metadata.name}
                </Link>
                {isPinned(row) && (
                    <span class="chip" title="kept whatever its retention says">
                        {" "}
                        pinned
                    </span>
                )}
            </>
        ),
    },
    {
        key: "phase",
        title: "Phase",
        sort: phaseOf,
        cell: (row) => (
            <span title={row.status.failureReason}>
                <Phase phase={phaseOf(row)} />
                {!row.status.failureReason && row.status.unmatched?.length > 0 && (
                    <>
                        {" "}
                        <span class="phase" data-tone="warn" title={row.status.unmatched.join("; ")}>
                            not all was found
                        </span>
                    </>
                )}
            </span>
        ),
    },
    {
        key: "namespaces",
        title: "Namespaces",
        secondary: true,
        sort: (row) => chipsOf(row.spec).join(),
        cell: (row) => <Namespaces scope={row.spec} />,
    },
    {
        key: "by",
        title: "Asked by",
        secondary: true,
        sort: (row) => row.metadata.labels[SCHEDULE_LABEL],
        cell: (row) => <AskedBy backup={row} />,
    },
    {
        key: "target",
        title: "Target",
        secondary: true,
        sort: (row) => row.spec.storageLocation,
        cell: (row) => row.spec.storageLocation,
    },
    {
        key: "created",
        title: "Asked for",
        number: true,
        sort: (row) => time(row.metadata.creationTimestamp),
        cell: (row) => <Ago time={row.metadata.creationTimestamp} />,
    },
    {
        key: "size",
        title: "Size",
        number: true,
        sort: sizeOf,
        cell: (row) => {
            const size = sizeOf(row);
            return size === undefined ? <span class="muted">–</span> : bytes(size);
        },
    },
    {
        key: "took",
        title: "Took",
        number: true,
        secondary: true,
        sort: took,
        cell: (row) => {
            const seconds = took(row);
            return seconds === undefined ? <span class="muted">–</span> : duration(seconds);
        },
    },
    {
        key: "expires",
        title: "Kept until",
        number: true,
        secondary: true,
        sort: (row) => time(row.status.expiration),
        cell: (row) => (isPinned(row) ? "for ever" : <Ago time={row.status.expiration} />),
    },
    {
        key: "actions",
        title: "",
        class: "actions",
        cell: (row) => <ActionMenu of={row.metadata.name} actions={() => actionsOf(row)} />,
    },
];

export function BackupsScreen() {
    need(backups, restores, targets);
    return (
        <Screen
            title="Backups"
            command={command("backup", "get")}
            actions={
                <>
                    <FilterBox label="Filter backups" />
                    {mayAct.value && (
                        <button class="button primary" onClick={() => openBackupForm()}>
                            Back up now
                        </button>
                    )}
                </>
            }
        >
            <div class="card">
                <Table
                    label="Backups"
                    noun="backup"
                    rows={backups.all()}
                    columns={COLUMNS}
                    keyOf={(row) => row.metadata.name}
                    text={(row) =>
                        `${row.metadata.name} ${phaseOf(row)} ${chipsOf(row.spec).join(" ")} ${row.metadata.labels[SCHEDULE_LABEL] ?? ""} ${row.spec.storageLocation ?? ""} ${isPinned(row) ? "pinned" : ""}`
                    }
                    sort={{ column: "created", down: true }}
                    loaded={backups.loaded.value}
                    rowProps={(row) => ({
                        "data-phase": phaseOf(row),
                        "data-pending": isDraft(row) ? "true" : undefined,
                    })}
                    empty={
                        <>
                            <strong>No backup yet.</strong>
                            <span>
                                Ask for one now, or let a <Link to="/schedules">schedule</Link> ask.
                            </span>
                            {mayAct.value && (
                                <button class="button primary" onClick={() => openBackupForm()}>
                                    Back up now
                                </button>
                            )}
                        </>
                    }
                />
            </div>
        </Screen>
    );
}

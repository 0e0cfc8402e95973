// The two long tables: volume backups, and volumes.

import type { ComponentChildren } from "preact";
import { useCallback, useRef } from "preact/hooks";
import { claimOf, ownerOf, type StoredBackup, type StoredVolume } from "../logic/catalogue";
import { bytes } from "../logic/quantities";
import { type Action, ActionMenu, sentence } from "../parts/actions";
import { backupLink, Link } from "../parts/link";
import { Coming, LongList } from "../parts/long_list";
import { Ago, Phase } from "../parts/words";
import type { FarRows } from "../store/far_rows";
import { param, setParams } from "../store/place";
import { backupActions, recordOf, type Shown, volumeActions } from "./catalogue_actions";

const ROW_HEIGHT = 36;

/** Where rows come from, and how to say that they may have changed. */
export type Listed = { rows: FarRows<StoredBackup & StoredVolume>; soon: () => void };

type Column<T> = { title: string; class?: string; cell: (row: T) => ComponentChildren };
type FarProps<T> = {
    label: string;
    count: number;
    listed: Listed;
    columns: Column<T>[];
    keyOf: (row: T) => string;
    actions: (row: T, shown: Shown) => Action[];
};

function FarTable<T extends StoredBackup | StoredVolume>(props: FarProps<T>) {
    const { label, count, listed, columns, keyOf } = props;
    const { rows, soon } = listed;
    const first = useRef(Math.min(Number(param("from")) || 0, count - 1));
    const onView = useCallback((from: number, to: number) => rows.look(from, Math.min(to, count) - 1), [rows, count]);
    const row = (index: number) => {
        const one = rows.at(index) as T | undefined;
        if (!one) return <Coming key={`at-${index}`} index={index} />;
        const shown = { drop: () => rows.drop((other) => keyOf(other as unknown as T) === keyOf(one)), again: soon };
        return (
            <tr key={keyOf(one)} data-row={keyOf(one)} aria-rowindex={index + 2}>
                {columns.map((column) => (
                    <td key={column.title} class={column.class}>
                        {column.cell(one)}
                    </td>
                ))}
                <td class="actions">
                    <ActionMenu of={keyOf(one)} actions={() => props.actions(one, shown)} />
                </td>
            </tr>
        );
    };
    return (
        <>
            {rows.problem.value !== null && (
                <p class="problem" role="alert">
                    {sentence(rows.problem.value)}
                </p>
            )}
            <LongList
                label={label}
                count={count}
                rowHeight={ROW_HEIGHT}
                first={first.current}
                onScrolled={(from) => setParams({ from: from > 0 ? String(from) : null })}
                onView={onView}
                head={
                    <tr>
                        {columns.map((column) => (
                            <th key={column.title} scope="col" class={column.class}>
                                {column.title}
                            </th>
                        ))}
                        <th scope="col" class="menu-column">
                            <span class="hidden-label">Actions</span>
                        </th>
                    </tr>
                }
                row={row}
            />
        </>
    );
}

const size = (text: string): string => (text ? bytes(Number(text)) : "–");

function Writer({ row }: { row: StoredBackup }) {
    const record = recordOf(row);
    if (record) return <Link to={backupLink(record.metadata.name)}>{record.metadata.name}</Link>;
    return (
        <span
            class="muted"
            title="This server has no record of who wrote it: it can be restored and deleted, not pinned."
        >
            {ownerOf(row) || "somebody else"}
        </span>
    );
}

const titleOf = (row: StoredBackup): string => (row.claim ? `${row.namespace}/${row.claim}` : row.volumeName);

const BACKUPS: Column<StoredBackup>[] = [
    {
        title: "Volume",
        class: "volume-column",
        cell: (row) => (
            <button
                class="link name"
                title={`${titleOf(row)}: only its backups`}
                onClick={() => setParams({ volume: row.volumeName, from: null })}
            >
                {titleOf(row)}
            </button>
        ),
    },
    { title: "Backup", class: "secondary", cell: (row) => <code title={row.name}>{row.name}</code> },
    {
        title: "State",
        class: "state-column",
        cell: (row) => (
            <span title={row.error}>
                <Phase phase={row.state} />
            </span>
        ),
    },
    { title: "Made", class: "number since-column", cell: (row) => <Ago time={row.created} none="unknown" /> },
    { title: "Size", class: "number secondary size-column", cell: (row) => size(row.dataSize) },
    { title: "New", class: "number secondary size-column", cell: (row) => size(row.newlyUploadDataSize) },
    { title: "Target", class: "secondary", cell: (row) => row.backupTargetName },
    { title: "Written by", class: "secondary", cell: (row) => <Writer row={row} /> },
];

const VOLUMES: Column<StoredVolume>[] = [
    {
        title: "Volume",
        class: "volume-column",
        cell: (row) => {
            const { namespace, claim } = claimOf(row.labels);
            return (
                <Link
                    class="name"
                    to={`/catalogue?${new URLSearchParams({ volume: row.name, target: row.backupTargetName })}`}
                    title={row.name}
                >
                    {claim ? `${namespace}/${claim}` : row.name}
                </Link>
            );
        },
    },
    { title: "In the store", class: "secondary", cell: (row) => <code title={row.name}>{row.name}</code> },
    { title: "Target", class: "secondary", cell: (row) => row.backupTargetName },
    { title: "Backups", class: "number size-column", cell: (row) => row.backupCount.toLocaleString("en") },
    { title: "Size", class: "number secondary size-column", cell: (row) => size(row.dataSize) },
    { title: "Stored", class: "number secondary size-column", cell: (row) => size(row.dataStored) },
    { title: "Last backup", class: "number since-column", cell: (row) => <Ago time={row.lastBackupAt} none="none" /> },
    { title: "Seen", class: "number secondary since-column", cell: (row) => <Ago time={row.lastSyncedAt} /> },
    {
        title: "Problem",
        class: "secondary",
        cell: (row) => <span class="bad">{Object.values(row.messages).join("; ")}</span>,
    },
];

export const BackupRows = ({ count, listed }: { count: number; listed: Listed }) => (
    <FarTable<StoredBackup>
        label="Volume backups"
        count={count}
        listed={listed}
        columns={BACKUPS}
        keyOf={(row) => `${row.volumeName}@${row.backupTargetName}/${row.name}`}
        actions={backupActions}
    />
);

export const VolumeRows = ({ count, listed }: { count: number; listed: Listed }) => (
    <FarTable<StoredVolume>
        label="Volumes in the stores"
        count={count}
        listed={listed}
        columns={VOLUMES}
        keyOf={(row) => row.id}
        actions={volumeActions}
    />
);

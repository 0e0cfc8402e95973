import { useEffect } from "preact/hooks";
import type { Volume, VolumeProtection } from "../api/types";
import { command, commands, flag } from "../logic/commands";
import { PROTECTION_WORDS } from "../logic/protection";
import { bytes, plural, time } from "../logic/quantities";
import { type Action, ActionMenu } from "../parts/actions";
import { openDialog } from "../parts/dialog";
import { Form, type Values } from "../parts/form";
import { backupLink, Link } from "../parts/link";
import { Screen } from "../parts/screen";
import { type Column, FilterBox, Table } from "../parts/table";
import { Ago, Phase } from "../parts/words";
import { keyOf } from "../store/collection";
import { protection, watchProtection } from "../store/protection";
import { create, draft, isDraft, remove } from "../store/operations";
import { backups, namespaces, need, schedules, transfersUp, uploads, volumes } from "../store/resources";
import { mayAct, mayManage } from "../store/session";
import { openBackupForm } from "./backup_actions";

const pathOfVolume = (volume: Volume): string =>
    volume.spec.directory ?? volume.spec.image ?? volume.spec.device ?? volume.spec.claim ?? "";

/** Without protection as long as the server has not judged the volume. */
type Row = { volume: Volume; protection: VolumeProtection | undefined; count: number; stored: number };

/** How often each volume was backed up, and what the store had to take for it. */
function storedByVolume(): Map<string, { count: number; stored: number }> {
    const found = new Map<string, { count: number; stored: number }>();
    for (const one of transfersUp()) {
        if (one.status.phase !== "Completed") continue;
        const key = `${one.spec.volumeNamespace}/${one.spec.volumeName}`;
        const sum = found.get(key) ?? { count: 0, stored: 0 };
        found.set(key, { count: sum.count + 1, stored: sum.stored + (one.status.result?.newBytes ?? 0) });
    }
    return found;
}

function rowsNow(): Row[] {
    const stored = storedByVolume();
    return volumes.all().map((volume) => ({
        volume,
        protection: protection.value?.get(keyOf(volume)),
        ...(stored.get(keyOf(volume)) ?? { count: 0, stored: 0 }),
    }));
}

const wordsOf = ({ protection: found }: Row): string => (found ? PROTECTION_WORDS[found.state] : "");
const schedulesOf = ({ protection: found }: Row): string => found?.schedules.join(", ") ?? "";

function State({ row }: { row: Row }) {
    const { protection: found } = row;
    if (!found) return <span class="muted">…</span>;
    return (
        <span title={found.message}>
            <Phase phase={found.state} words={wordsOf(row)} />
        </span>
    );
}

function actionsOf({ volume }: Row): Action[] {
    const { name, namespace } = volume.metadata;
    const key = keyOf(volume);
    return [
        {
            label: "Back up now",
            command: command("backup", "create", `${namespace}-now`, "--include-namespaces", namespace),
            done: "",
            run: async () => openBackupForm([namespace]),
        },
        {
            label: "Forget",
            command: commands.deleteVolume(key),
            done: `${key} is no longer backed up.`,
            danger: true,
            run: () => remove(volumes, volume),
            ask: {
                title: `Forget volume ${key}?`,
                consequences: () => {
                    const covering = schedules
                        .all()
                        .filter((schedule) => schedule.spec.template.includedNamespaces.includes(namespace));
                    return [
                        `Its data in ${pathOfVolume(volume)} and its backups stay; no new backups of ${name} are made.`,
                        covering.length > 0 &&
                            `${plural(covering.length, "schedule names", "schedules name")} its namespace: ${covering.map((one) => one.metadata.name).join(", ")}.`,
                    ];
                },
                confirm: "Forget the volume",
            },
        },
    ];
}

const COLUMNS: Column<Row>[] = [
    {
        key: "name",
        title: "Volume",
        sort: (row) => keyOf(row.volume),
        cell: ({ volume }) => (
            <span class="name" title={pathOfVolume(volume)}>
                {keyOf(volume)}
            </span>
        ),
    },
    {
        key: "state",
        title: "Protection",
        sort: wordsOf,
        cell: (row) => <State row={row} />,
    },
    {
        key: "age",
        title: "Last good backup",
        number: true,
        sort: (row) => time(row.volume.status.lastBackupAt),
        cell: ({ volume }) =>
            volume.status.lastBackup ? (
                <Link to={backupLink(volume.status.lastBackup)}>
                    <Ago time={volume.status.lastBackupAt} />
                </Link>
            ) : volume.status.lastBackupAt ? (
                <span title="In its store; this server has no record of it.">
                    <Ago time={volume.status.lastBackupAt} />
                </span>
            ) : (
                <span class="muted">never</span>
            ),
    },
    {
        key: "schedule",
        title: "Schedules",
        secondary: true,
        sort: (row) => schedulesOf(row) || undefined,
        cell: (row) => schedulesOf(row) || <span class="muted">none</span>,
    },
    {
        key: "size",
        title: "Size",
        number: true,
        secondary: true,
        sort: (row) => row.volume.status.size,
        cell: (row) =>
            row.volume.status.size === undefined ? <span class="muted">–</span> : bytes(row.volume.status.size),
    },
    {
        key: "stored",
        title: "Stored",
        number: true,
        secondary: true,
        sort: (row) => row.stored,
        cell: (row) => (row.count ? bytes(row.stored) : <span class="muted">–</span>),
    },
    {
        key: "count",
        title: "Backups",
        number: true,
        secondary: true,
        sort: (row) => row.count,
        cell: (row) => row.count,
    },
    {
        key: "actions",
        title: "",
        class: "actions",
        cell: (row) => (
            <>
                {mayAct.value && (
                    <button class="button small" onClick={() => openBackupForm([row.volume.metadata.namespace])}>
                        Back up now
                    </button>
                )}
                <ActionMenu of={keyOf(row.volume)} actions={() => actionsOf(row)} />
            </>
        ),
    },
];

export function VolumesScreen() {
    need(volumes, schedules, backups, namespaces, ...uploads);
    useEffect(watchProtection, []);
    return (
        <Screen
            title="Volumes"
            command={command("volume", "get", "-A")}
            actions={
                <>
                    <FilterBox label="Filter volumes" />
                    {mayManage.value && (
                        <button class="button primary" onClick={openVolumeForm}>
                            Add a volume
                        </button>
                    )}
                </>
            }
        >
            <div class="card">
                <Table
                    label="Volumes"
                    noun="volume"
                    rows={rowsNow()}
                    columns={COLUMNS}
                    keyOf={(row) => keyOf(row.volume)}
                    text={(row) =>
                        `${keyOf(row.volume)} ${pathOfVolume(row.volume)} ${wordsOf(row)} ${row.protection?.state} ${schedulesOf(row)}`
                    }
                    sort={{ column: "name", down: false }}
                    loaded={volumes.loaded.value}
                    rowProps={(row) => ({
                        "data-state": row.protection?.state,
                        "data-pending": isDraft(row.volume) ? "true" : undefined,
                    })}
                    empty={
                        <>
                            <strong>No volume yet.</strong>
                            <span>A volume is a directory, a disk image or a device that shall be backed up.</span>
                            {mayManage.value && (
                                <button class="button primary" onClick={openVolumeForm}>
                                    Add a volume
                                </button>
                            )}
                        </>
                    }
                />
            </div>
        </Screen>
    );
}

function openVolumeForm(): void {
    const specOf = (values: Values) => ({ [values["kind"] ?? "directory"]: values["path"] });
    openDialog("Add a volume", () => (
        <Form
            submit="Add the volume"
            fields={[
                {
                    name: "namespace",
                    label: "Namespace",
                    required: true,
                    hint: "The application it belongs to; made if it does not exist.",
                    suggestions: namespaces.all().map((one) => one.metadata.name),
                },
                { name: "name", label: "Name", required: true },
                {
                    name: "kind",
                    label: "Kind",
                    kind: "select",
                    value: "directory",
                    options: [
                        { value: "directory", label: "directory tree" },
                        { value: "image", label: "disk image" },
                        { value: "device", label: "block device" },
                    ],
                },
                {
                    name: "path",
                    label: "Path",
                    required: true,
                    placeholder: "/srv/shop/data",
                    hint: "On the server's machine.",
                },
            ]}
            command={(values) =>
                command(
                    "volume",
                    "create",
                    values["name"] || "NAME",
                    "-n",
                    values["namespace"] || "NAMESPACE",
                    ...flag(values["kind"] ?? "directory", values["path"] || "PATH"),
                )
            }
            send={async (values) => {
                const { name = "", namespace = "" } = values;
                const body = { metadata: { name, namespace }, spec: specOf(values) };
                const drawn = {
                    kind: "Volume",
                    metadata: draft(name, namespace),
                    spec: { excludes: [], ...specOf(values) },
                    status: { conditions: [] },
                };
                await create(volumes, drawn as unknown as Volume, body);
                return `${namespace}/${name} is part of the next backup of ${namespace}.`;
            }}
        />
    ));
}

import { useEffect } from "preact/hooks";
import type { BackupTarget } from "../api/types";
import { brokenWords } from "../logic/catalogue";
import { command, commands, flag } from "../logic/commands";
import { plural, time } from "../logic/quantities";
import { type Action, ActionMenu } from "../parts/actions";
import { openDialog } from "../parts/dialog";
import { Form, type Values } from "../parts/form";
import { Link } from "../parts/link";
import { Screen } from "../parts/screen";
import { type Column, FilterBox, Table } from "../parts/table";
import { Ago, Phase } from "../parts/words";
import { adoptStore, status, watchCatalogue } from "../store/catalogue";
import { create, draft, isDraft, remove } from "../store/operations";
import { backups, need, schedules, targets } from "../store/resources";
import { mayManage } from "../store/session";
import { syncTargetAction } from "./catalogue_actions";

const stateOf = (target: BackupTarget): string =>
    target.status.available === undefined
        ? "Not looked at yet"
        : target.status.available
          ? "Available"
          : target.status.store.adopt
            ? "OtherStore"
            : "Unreachable";

/** What its store holds, whoever wrote it, as far as the catalogue has seen it. */
const seen = (target: BackupTarget) => status.value?.targets.find((one) => one.name === target.metadata.name);

const backupsIn = (name: string): number =>
    backups.all().filter((backup) => backup.spec.storageLocation === name).length;

function deleteAction(target: BackupTarget): Action {
    const name = target.metadata.name;
    return {
        label: "Forget",
        command: commands.deleteTarget(name),
        done: `${name} is forgotten; what is in its store stays there.`,
        danger: true,
        run: () => remove(targets, target),
        ask: {
            title: `Forget target ${name}?`,
            consequences: () => {
                const users = schedules
                    .all()
                    .filter((schedule) => schedule.spec.template.storageLocation === name)
                    .map((one) => one.metadata.name);
                const held = backupsIn(name);
                return [
                    "What is in the store stays there; a target never deletes data.",
                    held > 0 && `It cannot go yet: it holds ${plural(held, "backup")}. Delete those first.`,
                    users.length > 0 &&
                        `${plural(users.length, "schedule writes", "schedules write")} to it: ${users.join(", ")}.`,
                    target.spec.default && "It is the default: backups that name no target would have none.",
                ];
            },
            confirm: "Forget the target",
        },
    };
}

/** Only while another store is there than the target's own. */
function adoptAction({ metadata: { name }, status: { store } }: BackupTarget): Action {
    return {
        label: "Accept the store that is there",
        command: commands.adoptStore(name),
        done: `${name} takes the store that is there, and the catalogue follows it.`,
        danger: true,
        run: () => adoptStore(name, store.adopt),
        ask: {
            title: `Accept what is there as the store of ${name}?`,
            consequences: () => [
                `Expected: ${store.identity || "the volumes that the catalogue knows"}.`,
                `Found: ${store.found || "nothing that has an identity"}.`,
                "If a share is only not mounted, mount it instead: the catalogue forgets what is not there.",
            ],
            confirm: "Accept it",
        },
    };
}

const COLUMNS: Column<BackupTarget>[] = [
    {
        key: "name",
        title: "Target",
        sort: (row) => row.metadata.name,
        cell: (row) => (
            <>
                <span class="name">{row.metadata.name}</span> {row.spec.default && <span class="chip">default</span>}
            </>
        ),
    },
    {
        key: "state",
        title: "State",
        sort: stateOf,
        cell: (row) => (
            <span title={row.status.message}>
                <Phase phase={stateOf(row)} />
            </span>
        ),
    },
    { key: "url", title: "URL", sort: (row) => row.spec.url, cell: (row) => <code>{row.spec.url}</code> },
    {
        key: "backups",
        title: "Holds",
        number: true,
        sort: (row) => seen(row)?.backups,
        cell: (row) => (
            <Link to={`/catalogue?target=${encodeURIComponent(row.metadata.name)}`}>
                {seen(row) ? plural(seen(row)!.backups, "backup") : "asking…"}
            </Link>
        ),
    },
    {
        key: "synced",
        title: "Last full sync",
        number: true,
        secondary: true,
        sort: (row) => time(seen(row)?.lastSyncedAt),
        cell: (row) => <Ago time={seen(row)?.lastSyncedAt} none={seen(row) ? "not read yet" : "asking…"} />,
    },
    {
        key: "message",
        title: "What it says",
        secondary: true,
        class: "wide",
        cell: (row) => {
            const known = seen(row);
            const words = row.status.message || (known ? brokenWords(known) : "");
            return <span title={words}>{words}</span>;
        },
    },
    {
        key: "actions",
        title: "",
        class: "actions",
        cell: (row) => (
            <ActionMenu
                of={row.metadata.name}
                actions={() => [
                    syncTargetAction(row.metadata.name),
                    ...(row.status.store.adopt ? [adoptAction(row)] : []),
                    deleteAction(row),
                ]}
            />
        ),
    },
];

export function TargetsScreen() {
    need(targets, backups, schedules);
    useEffect(() => watchCatalogue(async () => undefined).stop, []);
    return (
        <Screen
            title="Targets"
            command={command("target", "get")}
            actions={
                <>
                    <FilterBox label="Filter targets" />
                    {mayManage.value && (
                        <button class="button primary" onClick={openTargetForm}>
                            Add a target
                        </button>
                    )}
                </>
            }
        >
            <div class="card">
                <Table
                    label="Targets"
                    noun="target"
                    rows={targets.all()}
                    columns={COLUMNS}
                    keyOf={(row) => row.metadata.name}
                    text={(row) => `${row.metadata.name} ${row.spec.url} ${stateOf(row)}`}
                    sort={{ column: "name", down: false }}
                    loaded={targets.loaded.value}
                    rowProps={(row) => ({
                        "data-state": stateOf(row),
                        "data-pending": isDraft(row) ? "true" : undefined,
                    })}
                    empty={
                        <>
                            <strong>No target yet.</strong>
                            <span>
                                A target is a place that backups are written to: a directory, an S3 bucket, Azure or
                                Google storage.
                            </span>
                            {mayManage.value && (
                                <button class="button primary" onClick={openTargetForm}>
                                    Add a target
                                </button>
                            )}
                        </>
                    }
                />
            </div>
        </Screen>
    );
}

/** A plain path is a directory on the server's machine, as it is on the command line. */
const urlOf = (text: string): string => (text.startsWith("/") ? `file://${text}` : text);

function openTargetForm(): void {
    const specOf = (values: Values) => ({
        url: urlOf(values["url"] ?? ""),
        default: values["default"] === "true",
        ...(values["secret"] ? { credentialSecret: values["secret"] } : {}),
    });
    openDialog("Add a target", () => (
        <Form
            submit="Add the target"
            fields={[
                { name: "name", label: "Name", required: true },
                {
                    name: "url",
                    label: "URL or path",
                    required: true,
                    placeholder: "/mnt/backups or s3://bucket@region/path",
                    hint: "The server looks at once whether it can be used.",
                },
                {
                    name: "secret",
                    label: "Secret with the credentials",
                    hint: "A file in secrets/ of the server's data directory; empty for a directory.",
                },
                {
                    name: "default",
                    label: "Backups that name no target go here",
                    kind: "check",
                    value: String(targets.size === 0),
                },
            ]}
            command={(values) =>
                command(
                    "target",
                    "create",
                    values["name"] || "NAME",
                    values["url"] || "URL",
                    values["default"] === "true" && "--default",
                    ...flag("credential-secret", values["secret"]),
                )
            }
            send={async (values) => {
                const name = values["name"] ?? "";
                const drawn = {
                    kind: "BackupTarget",
                    metadata: draft(name),
                    spec: specOf(values),
                    status: { conditions: [], message: "", store: { adopt: "" } },
                };
                await create(targets, drawn as unknown as BackupTarget, { metadata: { name }, spec: specOf(values) });
                return `${name} can be written to.`;
            }}
        />
    ));
}

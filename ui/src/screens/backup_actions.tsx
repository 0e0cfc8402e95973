// What can be done to a backup, wherever it is shown.

import type { Backup } from "../api/types";
import { command, commands, flag } from "../logic/commands";
import { holdsNothing } from "../logic/protection";
import { plural } from "../logic/quantities";
import { reliedOn } from "../logic/system";
import type { Action } from "../parts/actions";
import { openDialog } from "../parts/dialog";
import { Form, list, type Values } from "../parts/form";
import { call } from "../api/client";
import { cancelBackup, create, draft, pinBackup, remove } from "../store/operations";
import { backups, namespaces, need, restores, systemBackups, targets } from "../store/resources";

export const PINNED = "tidegate.dev/pinned";
const FINAL: ReadonlySet<string> = new Set(["Completed", "PartiallyFailed", "Failed", "FailedValidation", "Canceled"]);

export const isOver = (backup: Backup): boolean => FINAL.has(backup.status.phase);
export const isPinned = (backup: Backup): boolean => backup.metadata.labels[PINNED] === "true";
export const isGoing = (backup: Backup): boolean => backup.metadata.deletionTimestamp !== undefined;
export const canRestore = (backup: Backup): boolean =>
    !isGoing(backup) &&
    !holdsNothing(backup) &&
    (backup.status.phase === "Completed" || backup.status.phase === "PartiallyFailed");
/** What the row says: a cancellation is told as soon as it is asked for. */
export function phaseOf(backup: Backup): string {
    if (isGoing(backup)) return "Deleting";
    if (backup.status.phase === "Completed" && holdsNothing(backup)) return "Empty";
    return backup.spec.cancel && !isOver(backup) ? "Cancelling" : backup.status.phase;
}

export function cancelAction(backup: Backup): Action {
    const name = backup.metadata.name;
    const runs = backup.status.phase !== "Queued" && backup.status.phase !== "New";
    return {
        label: "Cancel",
        command: commands.cancelBackup(name),
        done: `${name} is being cancelled.`,
        danger: true,
        run: () => cancelBackup(name),
        ask: {
            title: `Cancel backup ${name}?`,
            consequences: () => [
                runs
                    ? "Its transfers stop; what is already moved of unfinished volumes is of no use."
                    : "It leaves the queue at once.",
                "It ends as Canceled and cannot be continued, only asked for again.",
            ],
            confirm: "Cancel the backup",
        },
    };
}

export function deleteAction(backup: Backup): Action {
    const name = backup.metadata.name;
    return {
        label: "Delete",
        command: commands.deleteBackup(name),
        done: `${name} is gone from the list; its data in the store is removed in the background.`,
        danger: true,
        run: () => remove(backups, backup),
        ask: {
            title: `Delete backup ${name}?`,
            consequences: () => {
                need(restores, systemBackups);
                const readers = restores
                    .all()
                    .filter((restore) => restore.spec.backupName === name && !restore.status.completionTimestamp);
                return [
                    "Its data in the store is deleted too and cannot be brought back.",
                    readers.length > 0 &&
                        `It cannot go yet: ${plural(readers.length, "restore reads", "restores read")} it (${readers[0]!.metadata.name}).`,
                    reliedOn(systemBackups.all(), (volume) => volume.backup === name),
                    isPinned(backup) && "It is pinned: somebody wanted to keep it.",
                    !isOver(backup) && "It is not over yet; it is called off first.",
                ];
            },
            confirm: "Delete the backup",
        },
    };
}

export function pinAction(backup: Backup): Action {
    const name = backup.metadata.name;
    const pinned = !isPinned(backup);
    return {
        label: pinned ? "Pin" : "Unpin",
        command: commands.pinBackup(name, pinned),
        done: pinned
            ? `${name} is kept whatever its retention says.`
            : `${name} is kept only as long as its retention says.`,
        run: () => pinBackup(name, pinned),
    };
}

const specOf = (values: Values) => ({
    includedNamespaces: list(values["namespaces"]),
    ...(values["target"] ? { storageLocation: values["target"] } : {}),
    ...(values["priority"] ? { priority: Number(values["priority"]) } : {}),
    ...(values["allowEmpty"] === "true" ? { allowEmpty: true } : {}),
    ...(values["ttl"] ? { ttl: values["ttl"] } : {}),
});

function created(answer: Backup): string {
    const place = answer.status.queuePosition;
    const words = place ? `is number ${place} in the queue` : "starts at once";
    return [`${answer.metadata.name} ${words}`, ...answer.status.unmatched].map((one) => `${one}.`).join(" ");
}

/** Beside the namespaces of a backup or a schedule. */
export const ALLOW_EMPTY = {
    name: "allowEmpty",
    label: "Take it also if no volume matches",
    kind: "check" as const,
    hint: "Refused otherwise: it is a slip more often than a wish.",
};

const stamp = (): string => new Date().toISOString().slice(0, 19).replace(/\D/g, "");

/** Ask for a backup; `of` are the namespaces to begin with. */
export function openBackupForm(of: string[] = []): void {
    need(targets, namespaces);
    const body = (values: Values) => ({ metadata: { name: values["name"] }, spec: specOf(values) });
    openDialog("Back up now", () => (
        <Form
            submit="Back up now"
            fields={[
                { name: "name", label: "Name", required: true, value: `${of[0] ?? "backup"}-${stamp()}` },
                {
                    name: "namespaces",
                    label: "Namespaces",
                    hint: "Names or globs, by commas; empty means all.",
                    value: of.join(", "),
                    suggestions: namespaces.all().map((one) => one.metadata.name),
                },
                {
                    name: "target",
                    label: "Target",
                    kind: "select",
                    options: [
                        { value: "", label: "the default one" },
                        ...targets.all().map(({ metadata: { name } }) => ({ value: name, label: name })),
                    ],
                },
                {
                    name: "priority",
                    label: "Priority",
                    kind: "number",
                    placeholder: "0",
                    hint: "From -10 to 10: a head start in the queue.",
                },
                { name: "ttl", label: "Keep for", placeholder: "30d" },
                ALLOW_EMPTY,
            ]}
            command={(values) =>
                command(
                    "backup",
                    "create",
                    values["name"] || "NAME",
                    ...flag("include-namespaces", list(values["namespaces"]).join(",")),
                    ...flag("storage-location", values["target"]),
                    ...flag("priority", values["priority"]),
                    ...flag("ttl", values["ttl"]),
                    values["allowEmpty"] === "true" && "--allow-empty",
                )
            }
            preview={async (values) => {
                const answer = await call<Backup>("POST", "/v1/backups?dryRun=true", body(values));
                const why = answer.status.conditions.find((condition) => condition.type === "Waiting")?.message;
                return why
                    ? `It would be number ${answer.status.queuePosition} in the queue: ${why}.`
                    : "It would start at once.";
            }}
            send={async (values) => {
                const spec = { excludedNamespaces: [], ...specOf(values) };
                const drawn = {
                    apiVersion: "tidegate.dev/v1alpha1",
                    kind: "Backup",
                    metadata: draft(values["name"] ?? ""),
                    spec,
                    status: { phase: "New", conditions: [], events: [], errors: 0, warnings: 0 },
                };
                return created(await create(backups, drawn as unknown as Backup, body(values)));
            }}
        />
    ));
}

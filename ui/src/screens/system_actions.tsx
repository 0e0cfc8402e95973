// What can be done to system backups and system restores.

import { call } from "../api/client";
import type { SystemBackup, SystemRestore } from "../api/types";
import { command, commands, flag } from "../logic/commands";
import { plural } from "../logic/quantities";
import { systemIsOver } from "../logic/system";
import type { Action } from "../parts/actions";
import { openDialog } from "../parts/dialog";
import { Form, type Values } from "../parts/form";
import { create, draft, remove } from "../store/operations";
import { need, systemBackups, systemRestores, targets } from "../store/resources";
import { openSystemRestore } from "./system_restore_plan";

export const POLICIES = [
    { value: "if-not-present", label: "volumes without a backup" },
    { value: "if-changed", label: "also those that changed since theirs" },
    { value: "always", label: "every volume" },
    { value: "disabled", label: "none: rely on the backups that there are" },
];

export function systemBackupActions(system: SystemBackup): Action[] {
    const name = system.metadata.name;
    if (system.metadata.deletionTimestamp) return [];
    const restore: Action = {
        label: "Restore",
        command: command("system", "restore", "create", "--from", name, "--dry-run"),
        done: "",
        run: async () => openSystemRestore(name),
    };
    const made = system.status.volumes.filter((row) => row.decision === "Created").length;
    const away: Action = {
        label: "Delete",
        command: commands.deleteSystemBackup(name),
        done: `${name} is gone from the list; its archive is removed in the background.`,
        danger: true,
        run: () => remove(systemBackups, system),
        ask: {
            title: `Delete system backup ${name}?`,
            consequences: () => [
                "Its archive in the store is deleted too and cannot be brought back.",
                made > 0 &&
                    `${plural(made, "volume backup")} that it had made ${made === 1 ? "goes" : "go"} with it, unless another system backup relies on ${made === 1 ? "it" : "them"}.`,
                !systemIsOver(system.status.phase) && "It is not over yet; it is stopped first.",
            ],
            confirm: "Delete the system backup",
        },
    };
    return system.status.phase === "Ready" ? [restore, away] : [away];
}

export function systemRestoreActions(system: SystemRestore): Action[] {
    const name = system.metadata.name;
    if (system.metadata.deletionTimestamp) return [];
    return [
        {
            label: "Delete",
            command: commands.deleteSystemRestore(name),
            done: `${name} is gone.`,
            danger: true,
            run: () => remove(systemRestores, system),
            ask: {
                title: `Delete system restore ${name}?`,
                consequences: () => [
                    "What it has brought back stays, and so does the system backup.",
                    !systemIsOver(system.status.phase) && "It is not over yet; what it still brings back is stopped.",
                ],
                confirm: "Delete the system restore",
            },
        },
    ];
}

const stamp = (): string => new Date().toISOString().slice(0, 19).replace(/\D/g, "");

export function openSystemBackupForm(): void {
    need(targets, systemBackups);
    const specOf = (values: Values) => ({
        volumeBackupPolicy: values["policy"] ?? "",
        target: values["target"] ?? "",
    });
    const body = (values: Values) => ({ metadata: { name: values["name"] }, spec: specOf(values) });
    openDialog("Back up the system", () => (
        <Form
            submit="Back up the system"
            fields={[
                { name: "name", label: "Name", required: true, value: `system-${stamp()}` },
                {
                    name: "policy",
                    label: "Back up first",
                    kind: "select",
                    options: POLICIES,
                    value: "if-not-present",
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
            ]}
            command={(values) =>
                command(
                    "system",
                    "backup",
                    "create",
                    values["name"] || "NAME",
                    ...flag("volume-backup-policy", values["policy"]),
                    ...flag("target", values["target"]),
                )
            }
            preview={async (values) => {
                const answer = await call<SystemBackup>("POST", "/v1/systembackups?dryRun=true", body(values));
                return `It would be written to target ${answer.spec.target}; each volume is decided about when it begins.`;
            }}
            send={async (values) => {
                const name = values["name"] ?? "";
                const drawn = {
                    kind: "SystemBackup",
                    metadata: draft(name),
                    spec: specOf(values),
                    status: { phase: "New", conditions: [], volumes: [], version: "", url: "", checksum: "" },
                };
                await create(systemBackups, drawn as unknown as SystemBackup, body(values));
                return `${name} is on its way.`;
            }}
        />
    ));
}

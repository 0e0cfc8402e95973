// What can be done to what the stores hold: to one backup, one volume, one target, one deletion.

import type { Backup, Deletion, TargetCatalogue } from "../api/types";
import { ownerOf, type StoredBackup, type StoredVolume, syncCommand, whatGoes } from "../logic/catalogue";
import { command } from "../logic/commands";
import { plural } from "../logic/quantities";
import { reliedOn } from "../logic/system";
import type { Action } from "../parts/actions";
import { cancelDeletion, retryDeletion, deleteStored, newestOf, syncTarget, verifyBackup } from "../store/catalogue";
import { backups, need, restores, systemBackups } from "../store/resources";
import { isGoing, isPinned, pinAction } from "./backup_actions";
import { openRestoreOfUrl } from "./restore_wizard";

/** The Backup of this server that wrote it, if there is one. */
export function recordOf(row: StoredBackup): Backup | undefined {
    const found = backups.get(ownerOf(row));
    return found?.spec.storageLocation === row.backupTargetName && !isGoing(found) ? found : undefined;
}

export const FOR_GOOD =
    "It leaves all lists at once, and the store in the background. It cannot be brought back after that.";

/** Restores under way that read it, and would be in the way. */
function readers(target: string, volume: string, backup?: string, record?: string): string | false {
    const busy = restores.all().filter(({ spec, status }) => {
        if (status.completionTimestamp) return false;
        const source = status.source;
        if (!source) return record !== undefined && spec.backupName === record;
        return source.target === target && source.storeVolume === volume && (!backup || source.storeBackup === backup);
    });
    return (
        busy.length > 0 &&
        `It cannot go yet: ${plural(busy.length, "restore reads", "restores read")} it (${busy[0]!.metadata.name}).`
    );
}

/** System backups that could then not bring it back. */
function needed(target: string, volume: string, backup?: string): string | false {
    need(systemBackups);
    return reliedOn(
        systemBackups.all(),
        ({ stored }) =>
            stored?.target === target &&
            stored.storeVolume === volume &&
            (backup === undefined || stored.storeBackup === backup),
    );
}

/** `drop` takes it out of the list before the server has answered, `again` looks what is true. */
export type Shown = { drop: () => void; again: () => void };

async function gone(shown: Shown, work: () => Promise<unknown>): Promise<void> {
    shown.drop();
    try {
        await work();
    } finally {
        shown.again();
    }
}

export function deleteBackupAction(row: StoredBackup, shown: Shown): Action {
    const { name, volumeName: volume, backupTargetName: target } = row;
    return {
        label: "Delete",
        command: command("backup-volume", "delete", `${volume}@${target}`, "--backup", name, "--yes"),
        done: `${name} is gone from the lists; it is removed from ${target} in the background.`,
        danger: true,
        run: () => gone(shown, () => deleteStored(target, volume, [name])),
        ask: {
            title: `Delete ${name} of ${volume}?`,
            consequences: () => {
                const record = recordOf(row);
                return [
                    FOR_GOOD,
                    "No other backup needs it: each names all that it needs, and what they share stays.",
                    record !== undefined && `Backup ${record.metadata.name} will say that its data was removed.`,
                    record !== undefined && isPinned(record) && "That backup is pinned: somebody wanted to keep it.",
                    needed(target, volume, name),
                    readers(target, volume, name, record?.metadata.name),
                ];
            },
            confirm: "Delete the backup",
        },
    };
}

const verifyAction = (backup: string): Action => ({
    label: "Verify",
    command: command("verify", "create", backup),
    done: `${backup} is restored to a scratch place and compared; its record will tell.`,
    run: () => verifyBackup(backup),
});

export function backupActions(row: StoredBackup, shown: Shown): Action[] {
    const record = recordOf(row);
    return [
        ...(row.state === "Completed" ? [restoreAction(row)] : []),
        ...(record ? [pinAction(record), verifyAction(record.metadata.name)] : []),
        deleteBackupAction(row, shown),
    ];
}

const restoreAction = (row: StoredBackup): Action => ({
    label: "Restore",
    command: command("restore", "create", "--from-url", row.url),
    done: "",
    run: async () => openRestoreOfUrl(row.name, row.url),
});

const syncVolumeAction = ({ name, backupTargetName: target }: StoredVolume): Action => ({
    label: "Sync now",
    command: syncCommand(target, name),
    done: `${name} is looked at in ${target}.`,
    run: () => syncTarget(target, { volume: name }),
});

export function volumeActions(row: StoredVolume, shown: Shown): Action[] {
    const { id, name, backupTargetName: target } = row;
    const restore: Action = {
        label: "Restore newest",
        command: command("catalog", "search", "--volume", name, "--target", target, "--limit", 1),
        done: "",
        run: async () => {
            const newest = await newestOf(target, name);
            if (newest) openRestoreOfUrl(newest.name, newest.url);
        },
    };
    return [
        ...(row.backupCount > 0 ? [restore] : []),
        syncVolumeAction(row),
        {
            label: "Delete",
            command: command("backup-volume", "delete", id, "--yes"),
            done: `${name} is gone from the lists; it is removed from ${target} in the background.`,
            danger: true,
            run: () => gone(shown, () => deleteStored(target, name, [])),
            ask: {
                title: `Delete all of ${name} in ${target}?`,
                consequences: () => [
                    `All of its ${plural(row.backupCount, "backup")} go with it.`,
                    FOR_GOOD,
                    "Backups of this server that wrote some of them will say that their data was removed.",
                    needed(target, name),
                    readers(target, name),
                ],
                confirm: "Delete the volume",
            },
        },
    ];
}

export const syncTargetAction = (target: string): Action => ({
    label: "Sync now",
    command: syncCommand(target),
    done: `${target} is looked at.`,
    run: () => syncTarget(target),
});

export const confirmVanishedAction = ({ name, sync, heldBack }: TargetCatalogue): Action => ({
    label: "They are really gone",
    command: command("target", "sync", name, "--confirm-vanished", sync.vanished),
    done: `What vanished from ${name} leaves the catalogue with the sync that runs now.`,
    danger: true,
    run: () => syncTarget(name, { confirmVanished: sync.vanished }),
    ask: {
        title: `Forget what vanished from ${name}?`,
        consequences: () => [
            heldBack,
            "It may be a share that is not mounted: look at the store first.",
            "Nothing is deleted in the store; what comes back is found by the next sync.",
        ],
        confirm: "Forget them",
    },
});

export function deletionActions(deletion: Deletion, canBeCancelled: boolean, again: () => void): Action[] {
    const { name } = deletion.metadata;
    const { target, volume, backups: names } = deletion.spec;
    const cancel: Action = {
        label: "Cancel",
        command: command("deletion", "cancel", name),
        done: `${whatGoes(deletion)} of ${volume} stays, and is in the lists again.`,
        run: () => cancelDeletion(name).finally(again),
    };
    const atOnce: Action = {
        label: "Retry now",
        command: command("deletion", "retry", name),
        done: `${whatGoes(deletion)} of ${volume} is tried again now.`,
        run: () => retryDeletion(name).finally(again),
    };
    const askAgain: Action = {
        label: "Ask again",
        command: command(
            "backup-volume",
            "delete",
            `${volume}@${target}`,
            ...names.flatMap((one) => ["--backup", one]),
            "--yes",
        ),
        done: `${whatGoes(deletion)} of ${volume} is deleted.`,
        run: () => deleteStored(target, volume, names).finally(again),
    };
    const { phase } = deletion.status;
    if (phase === "Refused" || phase === "Canceled") return [askAgain];
    return [phase === "Retrying" && atOnce, canBeCancelled && cancel].filter((one): one is Action => Boolean(one));
}

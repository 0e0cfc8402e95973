import type { Restore } from "../api/types";
import { commands } from "../logic/commands";
import type { Action } from "../parts/actions";
import { cancelRestore, remove } from "../store/operations";
import { restores } from "../store/resources";

const FINAL: ReadonlySet<string> = new Set(["Completed", "PartiallyFailed", "Failed", "FailedValidation", "Canceled"]);

export const restoreIsOver = (restore: Restore): boolean => FINAL.has(restore.status.phase);

/** What the row says: a cancellation is told as soon as it is asked for. */
export function restorePhaseOf(restore: Restore): string {
    if (restore.metadata.deletionTimestamp) return "Deleting";
    return restore.spec.cancel && !restoreIsOver(restore) ? "Cancelling" : restore.status.phase;
}

export function cancelRestoreAction(restore: Restore): Action {
    const name = restore.metadata.name;
    return {
        label: "Cancel",
        command: commands.cancelRestore(name),
        done: `${name} is being cancelled.`,
        danger: true,
        run: () => cancelRestore(name),
        ask: {
            title: `Cancel restore ${name}?`,
            consequences: () => [
                "Volumes that are back stay; those that are not are left as they were.",
                restore.status.phase !== "New" && "Block devices may be half written.",
            ],
            confirm: "Cancel the restore",
        },
    };
}

function deleteRestoreAction(restore: Restore): Action {
    const name = restore.metadata.name;
    return {
        label: "Delete",
        command: commands.deleteRestore(name),
        done: `${name} is gone.`,
        danger: true,
        run: () => remove(restores, restore),
        ask: {
            title: `Delete restore ${name}?`,
            consequences: () => [
                "What it has brought back stays, and so does the backup.",
                !restoreIsOver(restore) && "It is not over yet; it is stopped first.",
            ],
            confirm: "Delete the restore",
        },
    };
}

export const restoreActions = (restore: Restore): Action[] =>
    restoreIsOver(restore)
        ? [deleteRestoreAction(restore)]
        : [cancelRestoreAction(restore), deleteRestoreAction(restore)];

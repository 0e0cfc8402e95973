import type { Restore } from "../api/types";
import { commands } from "../logic/commands";
import type { Action } from "../parts/actions";
import { remove } from "../store/operations";
import { restores } from "../store/resources";

const FINAL: ReadonlySet<string> = new Set(["Completed", "PartiallyFailed", "Failed", "FailedValidation", "Canceled"]);

export const restoreIsOver = (restore: Restore): boolean => FINAL.has(restore.status.phase);

/** Deleting a restore that runs stops it; what it brought back stays. */
export function stopRestoreAction(restore: Restore): Action {
    const name = restore.metadata.name;
    const over = restoreIsOver(restore);
    return {
        label: over ? "Delete" : "Stop and delete",
        command: commands.deleteRestore(name),
        done: `${name} is gone.`,
        danger: true,
        run: () => remove(restores, restore),
        ask: {
            title: `${over ? "Delete" : "Stop"} restore ${name}?`,
            consequences: () => [
                !over && "It stops; volumes that are not finished are incomplete where they are restored to.",
                "What it has brought back stays, and so does the backup.",
            ],
            confirm: over ? "Delete the restore" : "Stop the restore",
        },
    };
}

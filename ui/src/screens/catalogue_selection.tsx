// What can be done to all backups that match a filter.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Problem } from "../api/client";
import type { SelectedRecords } from "../api/types";
import { type CatalogueFilter, deleteCommand } from "../logic/catalogue";
import { command } from "../logic/commands";
import { plural } from "../logic/quantities";
import { type Action, perform, sentence } from "../parts/actions";
import { Command } from "../parts/command";
import { closeDialog, openDialog } from "../parts/dialog";
import { askRecords, deleteMatching, verifyBackup } from "../store/catalogue";
import { pinBackup } from "../store/operations";
import { FOR_GOOD } from "./catalogue_actions";
import { openRestoreWizard } from "./restore_wizard";

export const deleteMatchingAction = (filter: CatalogueFilter, count: number, again: () => void): Action => ({
    label: "Delete all",
    command: deleteCommand(filter),
    done: `${plural(count, "backup")} left the lists; they are removed from the stores in the background.`,
    danger: true,
    run: async () => {
        const answer = await deleteMatching(filter, count).finally(again);
        const first = answer.kept[0];
        if (first)
            throw new Problem(
                409,
                "Refused",
                `${plural(answer.kept.length, "volume keeps its", "volumes keep their")} backups: ${first.message}`,
            );
    },
    ask: {
        title: `Delete ${plural(count, "backup")}?`,
        consequences: () => [
            `All ${plural(count, "backup")} that match, also those that are not in view. The volumes themselves stay.`,
            FOR_GOOD,
            "If more match by the time you confirm, nothing is deleted.",
        ],
        confirm: `Delete ${plural(count, "backup")}`,
    },
});

type Doing = { verb: string; commandOf: (name: string) => string; run: (name: string) => Promise<void>; done: string };

const DOINGS: Record<"pin" | "verify", Doing> = {
    pin: {
        verb: "Pin",
        commandOf: (name) => command("backup", "pin", name),
        run: (name) => pinBackup(name, true),
        done: "kept whatever its retention says",
    },
    verify: {
        verb: "Verify",
        commandOf: (name) => command("verify", "create", name),
        run: verifyBackup,
        done: "verified, one after the other",
    },
};

export function openForAll(filter: CatalogueFilter, what: "pin" | "verify" | "restore"): void {
    const title = { pin: "Pin what matches", verify: "Verify what matches", restore: "Restore something that matches" };
    openDialog(title[what], () => (
        <OfRecords filter={filter}>
            {(found) => (what === "restore" ? <PickOne found={found} /> : <Each found={found} doing={DOINGS[what]} />)}
        </OfRecords>
    ));
}

type OfProps = { filter: CatalogueFilter; children: (found: SelectedRecords) => ComponentChildren };

/** Pins, verifications and whole restores go by Backups of this server: which of them wrote what matches? */
function OfRecords({ filter, children }: OfProps) {
    const found = useSignal<SelectedRecords | string | null>(null);
    useEffect(() => {
        askRecords(filter).then(
            (answer) => (found.value = answer),
            (error) => (found.value = sentence(error)),
        );
    }, []);
    if (found.value === null) return <p class="muted">Asking which backups of this server wrote them…</p>;
    if (typeof found.value === "string") return <p class="problem">{found.value}</p>;
    const { records, strangers, newest } = found.value;
    return (
        <>
            {records.length > 0 && children(found.value)}
            {strangers > 0 && (
                <p class="notice">
                    {plural(strangers, "volume backup was", "volume backups were")} written by nobody that this server
                    has a record of. They can be restored one by one and deleted, but there is nothing to pin or to
                    verify.
                </p>
            )}
            {records.length === 0 && strangers === 0 && <p>Nothing matches any more.</p>}
            {newest !== undefined && <p class="muted">Only the newest {newest.toLocaleString("en")} were looked at.</p>}
        </>
    );
}

function PickOne({ found }: { found: SelectedRecords }) {
    return (
        <ul class="stack" aria-label="Backups that can be restored">
            {found.records.slice(0, 20).map((one) => (
                <li key={one.name} class="row">
                    <button class="button" onClick={() => openRestoreWizard(one.name)}>
                        {one.name}
                    </button>
                    <span class="muted">{plural(one.backups, "volume")} of what matches</span>
                </li>
            ))}
        </ul>
    );
}

function Each({ found, doing }: { found: SelectedRecords; doing: Doing }) {
    const names = found.records.map((one) => one.name);
    const go = () => {
        closeDialog();
        void perform({
            label: doing.verb,
            command: doing.commandOf(names[0]!),
            done: `${plural(names.length, "backup is", "backups are")} ${doing.done}.`,
            run: async () => {
                for (const name of names) await doing.run(name);
            },
        });
    };
    return (
        <>
            <p>
                {plural(names.length, "backup")} of this server wrote what matches: {names.slice(0, 8).join(", ")}
                {names.length > 8 && ` and ${names.length - 8} more`}.
            </p>
            {names.slice(0, 3).map((name) => (
                <Command key={name} text={doing.commandOf(name)} />
            ))}
            <footer>
                <button class="button" onClick={closeDialog}>
                    Not now
                </button>
                <button class="button primary" onClick={go}>
                    {doing.verb} {plural(names.length, "backup")}
                </button>
            </footer>
        </>
    );
}

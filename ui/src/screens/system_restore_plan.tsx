// The way back, in two steps: which volumes get their data back, and what would happen then.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client";
import type { RestoredDefinition, SystemRestore, VolumeChoice } from "../api/types";
import { command } from "../logic/commands";
import { plural } from "../logic/quantities";
import { plannedWord, planSentence } from "../logic/system";
import { sentence } from "../parts/actions";
import { Command } from "../parts/command";
import { closeDialog, openDialog } from "../parts/dialog";
import { tell } from "../parts/toasts";
import { create, draft } from "../store/operations";
import { need, systemRestores } from "../store/resources";

type Wish = { name: string; from: string; volumes: VolumeChoice };

const CHOICES: { value: VolumeChoice; label: string; more: string }[] = [
    { value: "missing", label: "Missing ones", more: "data comes back where nothing is" },
    { value: "none", label: "None", more: "only settings, targets, volumes and schedules are defined again" },
    { value: "all", label: "All", more: "what is there is overwritten, devices too" },
];
const MOST_SHOWN = 40;

const bodyOf = (wish: Wish) => ({
    metadata: { name: wish.name },
    spec: { systemBackup: wish.from, volumes: wish.volumes },
});

const commandOf = (wish: Wish, ...more: string[]): string =>
    command("system", "restore", "create", wish.name, "--from", wish.from, "--volumes", wish.volumes, ...more);

export function openSystemRestore(from: string): void {
    need(systemRestores);
    openDialog(`Restore the system from ${from}`, () => <Wizard from={from} />);
}

function Wizard({ from }: { from: string }) {
    const stamp = new Date().toISOString().slice(0, 19).replace(/\D/g, "");
    const wish = useSignal<Wish>({ name: `restore-${stamp}`, from, volumes: "missing" });
    const planned = useSignal(false);
    if (planned.value) return <Plan wish={wish.value} back={() => (planned.value = false)} />;
    return (
        <>
            <p>1. Whose data comes back?</p>
            <fieldset class="stack">
                <legend>Volumes</legend>
                {CHOICES.map((choice) => (
                    <label key={choice.value} class="check">
                        <input
                            type="radio"
                            name="volumes"
                            checked={wish.value.volumes === choice.value}
                            onChange={() => (wish.value = { ...wish.value, volumes: choice.value })}
                        />
                        <span>
                            {choice.label} <span class="muted">{choice.more}</span>
                        </span>
                    </label>
                ))}
            </fieldset>
            <Command text={commandOf(wish.value, "--dry-run")} />
            <footer>
                <button class="button" onClick={closeDialog}>
                    Leave it
                </button>
                <button class="button primary" onClick={() => (planned.value = true)}>
                    Show the plan
                </button>
            </footer>
        </>
    );
}

function Plan({ wish, back }: { wish: Wish; back: () => void }) {
    const plan = useSignal<SystemRestore | null>(null);
    const problem = useSignal("");
    const busy = useSignal(false);
    useEffect(() => {
        call<SystemRestore>("POST", "/v1/systemrestores?dryRun=true", bodyOf(wish)).then(
            (found) => (plan.value = found),
            (error) => (problem.value = sentence(error)),
        );
    }, []);
    const go = async () => {
        busy.value = true;
        try {
            const drawn = { ...plan.value!, metadata: draft(wish.name) };
            await create(systemRestores, drawn, bodyOf(wish));
            closeDialog();
            tell("good", `${wish.name} is on its way.`, commandOf(wish));
        } catch (error) {
            problem.value = sentence(error);
            busy.value = false;
        }
    };
    const overwrites = wish.volumes === "all";
    return (
        <>
            <p>2. What would happen</p>
            {problem.value && (
                <p class="problem" role="alert">
                    {problem.value}
                </p>
            )}
            {plan.value ? (
                <Planned plan={plan.value} />
            ) : (
                !problem.value && <p class="muted">Reading the archive, and looking at what is here…</p>
            )}
            <Command text={commandOf(wish)} />
            <footer>
                <button class="button" onClick={back}>
                    Back
                </button>
                <button
                    class={`button primary ${overwrites ? "danger" : ""}`}
                    disabled={!plan.value || busy.value}
                    onClick={() => void go()}
                >
                    {overwrites ? "Restore and overwrite" : "Restore the system"}
                </button>
            </footer>
        </>
    );
}

/** What changes comes first; what stays as it is, is only counted. */
function Planned({ plan }: { plan: SystemRestore }) {
    const { definitions, volumes } = plan.status;
    const missing = volumes.filter((row) => row.state === "Failed");
    const kept = definitions.filter((one) => one.action === "Keep");
    const changes = definitions.filter((one) => one.action === "Create" || one.action === "Update");
    return (
        <>
            <p>{planSentence(plan)}.</p>
            {missing.length > 0 && (
                <ul class="problem" aria-label="Data that does not come back">
                    {missing.slice(0, MOST_SHOWN).map((row) => (
                        <li key={row.volume}>
                            <b>{row.volume}: </b>
                            {row.reason}
                        </li>
                    ))}
                </ul>
            )}
            <Definitions title="Changes" rows={changes} />
            <Definitions title="Kept as they are here" rows={kept} />
            {volumes.length > 0 && (
                <details>
                    <summary>Data of {plural(volumes.length, "volume")}</summary>
                    <ul>
                        {volumes.slice(0, MOST_SHOWN).map((row) => (
                            <li key={row.volume}>
                                <b>{row.volume}</b> {plannedWord(row.state)}{" "}
                                <span class="muted small">{row.backupUrl || row.reason}</span>
                            </li>
                        ))}
                        {volumes.length > MOST_SHOWN && <li class="muted">and {volumes.length - MOST_SHOWN} more</li>}
                    </ul>
                </details>
            )}
        </>
    );
}

function Definitions({ title, rows }: { title: string; rows: RestoredDefinition[] }) {
    if (rows.length === 0) return null;
    return (
        <details open={rows.length <= 10}>
            <summary>
                {title} ({rows.length})
            </summary>
            <ul>
                {rows.slice(0, MOST_SHOWN).map((row) => (
                    <li key={row.kind + row.name}>
                        {row.action} {row.kind} <b>{row.name}</b> <span class="muted small">{row.reason}</span>
                    </li>
                ))}
                {rows.length > MOST_SHOWN && <li class="muted">and {rows.length - MOST_SHOWN} more</li>}
            </ul>
        </details>
    );
}

// The way back, in two steps: which volumes get their data back, and what would happen then.

import { useSignal } from "@preact/signals";
import { call } from "../api/client";
import type { RestoredDefinition, SystemRestore, VolumeChoice } from "../api/types";
import { command } from "../logic/commands";
import { plural } from "../logic/quantities";
import { plannedWord, planSentence } from "../logic/system";
import { Command } from "../parts/command";
import { closeDialog, openDialog } from "../parts/dialog";
import { AndMore, PlanDialog } from "../parts/plan_dialog";
import { create, draft } from "../store/operations";
import { stamp } from "../store/plan_step";
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
    const wish = useSignal<Wish>({ name: `restore-${stamp()}`, from, volumes: "missing" });
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
    const overwrites = wish.volumes === "all";
    return (
        <PlanDialog
            title="2. What would happen"
            looking="Reading the archive, and looking at what is here…"
            ask={() => call<SystemRestore>("POST", "/v1/systemrestores?dryRun=true", bodyOf(wish))}
            carryOut={(plan) => create(systemRestores, { ...plan, metadata: draft(wish.name) }, bodyOf(wish))}
            show={(plan) => <Planned plan={plan} />}
            verb={() => ({ label: overwrites ? "Restore and overwrite" : "Restore the system", danger: overwrites })}
            planCommand={commandOf(wish)}
            done={{ text: `${wish.name} is on its way.`, command: commandOf(wish) }}
            back={back}
        />
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
                        <AndMore of={volumes.length} shown={MOST_SHOWN} muted />
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
                <AndMore of={rows.length} shown={MOST_SHOWN} muted />
            </ul>
        </details>
    );
}

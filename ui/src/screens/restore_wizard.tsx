// Three steps: which backup, what of it and where to, and what would happen.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, get } from "../api/client";
import type { Backup, Restore, RestorePlan } from "../api/types";
import { command, flag } from "../logic/commands";
import { bytes, plural } from "../logic/quantities";
import { matchesFilter } from "../logic/tables";
import { type Action, sentence } from "../parts/actions";
import { Command } from "../parts/command";
import { closeDialog, openDialog } from "../parts/dialog";
import { AndMore, PlanDialog } from "../parts/plan_dialog";
import { Ago, Namespaces, Reason } from "../parts/words";
import { create, draft } from "../store/operations";
import { stamp } from "../store/plan_step";
import { backups, need, restores, type Transfer } from "../store/resources";
import { canRestore } from "./backup_actions";

/** From a Backup of this server, or from one volume backup in a store, named by its URL. */
type Source = { backup: string; url?: string };
type Wish = Source & {
    name: string;
    volumes: string[];
    /** Globs of what comes back of file trees; none means all. */
    paths: string[];
    destination: string;
    overwrite: boolean;
};

/** What is chosen already by whoever opens the wizard. */
export type Chosen = Partial<Pick<Wish, "volumes" | "paths">>;

const bodyOf = (wish: Wish) => ({
    metadata: { name: wish.name },
    spec: {
        ...(wish.url ? { backupUrl: wish.url } : { backupName: wish.backup, includedVolumes: wish.volumes }),
        ...(wish.paths.length ? { includedPaths: wish.paths } : {}),
        existingData: wish.overwrite ? "overwrite" : "none",
        ...(wish.destination ? { destination: wish.destination } : {}),
    },
});

const commandOf = (wish: Wish, verb = "create"): string =>
    command(
        "restore",
        verb,
        wish.name,
        ...(wish.url ? ["--from-url", wish.url] : ["--from-backup", wish.backup]),
        ...flag("include-volumes", wish.volumes.join(",")),
        ...wish.paths.flatMap((path) => flag("include-paths", path)),
        ...flag("to", wish.destination),
        ...flag("existing-data", wish.overwrite && "overwrite"),
    );

const nameFor = (backup: string): string => `${backup.slice(0, 40)}-${stamp()}`;

export const restoreAction = (backup: Backup): Action => ({
    label: "Restore",
    command: command("restore", "create", "--from-backup", backup.metadata.name),
    done: "",
    run: async () => openRestoreWizard(backup.metadata.name),
});

export function openRestoreWizard(backup = "", already: Chosen = {}): void {
    need(backups, restores);
    openDialog(backup ? `Restore from ${backup}` : "Restore something", () => (
        <Wizard backup={backup} already={already} />
    ));
}

/** One volume backup, whoever wrote it. */
export function openRestoreOfUrl(backup: string, url: string): void {
    need(backups, restores);
    openDialog(`Restore ${backup}`, () => <What source={{ backup, url }} already={{}} back={closeDialog} />);
}

function Wizard({ backup, already }: { backup: string; already: Chosen }) {
    const chosen = useSignal(backup);
    if (!chosen.value) return <Choose pick={(name) => (chosen.value = name)} />;
    // What was chosen of one backup means nothing for another.
    const kept = chosen.value === backup ? already : {};
    return <What source={{ backup: chosen.value }} already={kept} back={() => (chosen.value = "")} />;
}

function Choose({ pick }: { pick: (name: string) => void }) {
    const filter = useSignal("");
    const good = backups
        .all()
        .filter(
            (one) =>
                canRestore(one) &&
                matchesFilter(`${one.metadata.name} ${one.spec.includedNamespaces.join(" ")}`, filter.value),
        )
        .sort((a, b) => (b.status.completionTimestamp ?? "").localeCompare(a.status.completionTimestamp ?? ""));
    return (
        <>
            <p>1. Which backup?</p>
            <input
                class="input"
                type="search"
                aria-label="Find a backup"
                placeholder="Find by name or namespace"
                onInput={(event) => (filter.value = event.currentTarget.value)}
            />
            {good.length === 0 && (
                <p class="muted">
                    No finished backup matches. Only backups that are Completed or PartiallyFailed can be restored.
                </p>
            )}
            <ul class="stack">
                {good.slice(0, 12).map((one) => (
                    <li key={one.metadata.uid} class="row">
                        <button class="button" onClick={() => pick(one.metadata.name)}>
                            {one.metadata.name}
                        </button>
                        <Namespaces scope={one.spec} />{" "}
                        <span class="muted">
                            <Ago time={one.status.completionTimestamp} />
                        </span>
                    </li>
                ))}
            </ul>
        </>
    );
}

type Choice = { key: string; path: string; size: number };

async function volumesOf(backup: string): Promise<Choice[]> {
    const uid = backups.get(backup)?.metadata.uid ?? "";
    const selector = encodeURIComponent(`tidegate.dev/backup-uid=${uid}`);
    const pages = await Promise.all(
        ["datauploads", "podvolumebackups"].map((plural) =>
            get<{ data: Transfer[] }>(`/v1/${plural}?labelSelector=${selector}`),
        ),
    );
    return pages
        .flatMap((page) => page.data)
        .filter((one) => one.status.phase === "Completed")
        .map((one) => ({
            key: `${one.spec.volumeNamespace}/${one.spec.volumeName}`,
            path: one.spec.path,
            size: one.status.result?.size ?? 0,
        }));
}

function What({ source, already, back }: { source: Source; already: Chosen; back: () => void }) {
    const { backup, url } = source;
    const wish = useSignal<Wish>({
        name: nameFor(backup),
        ...source,
        volumes: [],
        paths: [],
        destination: "",
        overwrite: false,
        ...already,
    });
    const choices = useSignal<Choice[] | string | null>(url ? [] : null);
    const plan = useSignal(false);
    useEffect(() => {
        if (url) return;
        volumesOf(backup).then(
            (found) => (choices.value = found),
            (error) => (choices.value = sentence(error)),
        );
    }, [backup, url]);
    const set = (change: Partial<Wish>) => {
        wish.value = { ...wish.value, ...change };
    };
    if (typeof choices.value === "string") return <p class="problem">{choices.value}</p>;
    if (choices.value === null) return <p class="muted">Asking which volumes the backup holds…</p>;
    if (plan.value) return <Plan wish={wish.value} back={() => (plan.value = false)} />;
    const toggle = (key: string) =>
        set({
            volumes: wish.value.volumes.includes(key)
                ? wish.value.volumes.filter((one) => one !== key)
                : [...wish.value.volumes, key],
        });
    return (
        <>
            <p>2. What of {backup}, and where to?</p>
            <fieldset class="stack" hidden={Boolean(url)}>
                <legend>Volumes (none ticked means all {choices.value.length})</legend>
                {choices.value.slice(0, 50).map((one) => (
                    <label key={one.key} class="check">
                        <input
                            type="checkbox"
                            checked={wish.value.volumes.includes(one.key)}
                            onChange={() => toggle(one.key)}
                        />
                        <span>
                            {one.key}{" "}
                            <span class="muted">
                                {bytes(one.size)}, from {one.path}
                            </span>
                        </span>
                    </label>
                ))}
            </fieldset>
            {wish.value.paths.length > 0 && (
                <fieldset>
                    <legend>Only these paths</legend>
                    <ul class="stack" aria-label="Paths">
                        {wish.value.paths.map((path) => (
                            <li key={path} class="row">
                                <code class="break">{path}</code>
                                <button
                                    type="button"
                                    class="button small quiet"
                                    aria-label={`Leave out ${path}`}
                                    onClick={() => set({ paths: wish.value.paths.filter((one) => one !== path) })}
                                >
                                    ×
                                </button>
                            </li>
                        ))}
                    </ul>
                </fieldset>
            )}
            <label class="field" for="restore-to">
                <span>Put it below this directory</span>
                <input
                    id="restore-to"
                    class="input"
                    value={wish.value.destination}
                    placeholder="empty: where it came from"
                    onInput={(event) => set({ destination: event.currentTarget.value })}
                />
            </label>
            {wish.value.paths.length > 0 ? (
                <p class="muted small">Some paths of a tree come back to a place of their own, never over a tree.</p>
            ) : (
                <label class="check">
                    <input
                        type="checkbox"
                        checked={wish.value.overwrite}
                        onChange={(event) => set({ overwrite: event.currentTarget.checked })}
                    />
                    <span>Overwrite what is there already</span>
                </label>
            )}
            <Command text={commandOf(wish.value)} />
            <footer>
                <button class="button" onClick={back}>
                    Back
                </button>
                <button class="button primary" onClick={() => (plan.value = true)}>
                    Show the plan
                </button>
            </footer>
        </>
    );
}

function Plan({ wish, back }: { wish: Wish; back: () => void }) {
    const begin = () => {
        const drawn = {
            kind: "Restore",
            metadata: draft(wish.name),
            spec: { ...bodyOf(wish).spec },
            status: { phase: "New", conditions: [], errors: 0, warnings: 0 },
        };
        return create(restores, drawn as unknown as Restore, bodyOf(wish));
    };
    return (
        <PlanDialog
            title="3. What would happen"
            looking="Looking at every place that would be written to…"
            ask={() => call<RestorePlan>("POST", "/v1/restore-plans", bodyOf(wish))}
            carryOut={begin}
            show={(plan) => <Planned plan={plan} />}
            verb={(plan) => (plan?.conflicts.length ? undefined : { label: "Restore", danger: wish.overwrite })}
            planCommand={commandOf(wish, "plan")}
            done={{ text: `${wish.name} is on its way.`, command: commandOf(wish) }}
            back={back}
        />
    );
}

const MOST_SHOWN = 12;

/** Conflicts first: they are what the plan is asked for. */
function Planned({ plan }: { plan: RestorePlan }) {
    const size = plan.volumes.reduce((sum, one) => sum + (one.size ?? 0), 0);
    return (
        <>
            {plan.conflicts.length > 0 && (
                <>
                    <ul class="problem" aria-label="Conflicts">
                        {plan.conflicts.slice(0, MOST_SHOWN).map((one) => (
                            <li key={one.volume + one.message}>
                                {one.volume && <b>{one.volume}: </b>}
                                {one.message}
                            </li>
                        ))}
                        <AndMore of={plan.conflicts.length} shown={MOST_SHOWN} />
                    </ul>
                    <p>
                        The server would refuse this. Go back and tick other volumes, name another directory, or let it
                        overwrite what is there.
                    </p>
                </>
            )}
            {plan.warnings.map((one) => (
                <p key={one} class="notice warn">
                    {one}
                </p>
            ))}
            {plan.waits.map((one) => (
                <p key={one.message}>
                    <Reason reason={one.reason} /> {one.message}
                </p>
            ))}
            <p>
                {plural(plan.volumes.length, "volume")}, {bytes(size)}:
            </p>
            <ul>
                {plan.volumes.slice(0, MOST_SHOWN).map((one) => (
                    <li key={one.targetVolume}>
                        <b>{one.volume}</b>{" "}
                        <span class="muted">to {one.destination || "a place that nobody knows"}</span>
                    </li>
                ))}
                <AndMore of={plan.volumes.length} shown={MOST_SHOWN} muted />
            </ul>
        </>
    );
}

import type { Restore } from "../api/types";
import { command, commands } from "../logic/commands";
import { plural, time } from "../logic/quantities";
import { ActionButton, ActionMenu } from "../parts/actions";
import { backupLink, Link, restoreLink } from "../parts/link";
import { Card, Screen } from "../parts/screen";
import { type Column, FilterBox, Table } from "../parts/table";
import { Ago, Phase, Reason } from "../parts/words";
import { keyOf } from "../store/collection";
import { isDraft, setSetting } from "../store/operations";
import {
    backups,
    downloads,
    need,
    restores,
    setting,
    settings,
    type Transfer,
    transfersDown,
} from "../store/resources";
import { isMoving } from "../store/samples";
import { mayAct } from "../store/session";
import { RestoreDetail } from "./restore_detail";
import { restoreActions, restoreIsOver, restorePhaseOf } from "./restore_actions";
import { openRestoreWizard } from "./restore_wizard";

const LIMIT = "concurrent-backup-restore-limit";

const waitingOf = (one: Transfer) => one.status.conditions.find((condition) => condition.type === "Waiting");
const ownerOf = (one: Transfer): string | undefined =>
    one.metadata.ownerReferences.find((owner) => owner.kind === "Restore")?.name;
const source = (restore: Restore): string =>
    restore.spec.backupName ?? restore.spec.scheduleName ?? restore.spec.backupUrl ?? "";

const COLUMNS: Column<Restore>[] = [
    {
        key: "name",
        title: "Restore",
        sort: (row) => row.metadata.name,
        cell: (row) => (
            <Link class="name" to={restoreLink(row.metadata.name)}>
                {row.metadata.name}
            </Link>
        ),
    },
    {
        key: "phase",
        title: "Phase",
        sort: (row) => row.status.phase,
        cell: (row) => (
            <span title={row.status.failureReason}>
                <Phase phase={restorePhaseOf(row)} />
            </span>
        ),
    },
    {
        key: "from",
        title: "From",
        sort: source,
        cell: (row) =>
            row.spec.backupName ? <Link to={backupLink(row.spec.backupName)}>{row.spec.backupName}</Link> : source(row),
    },
    {
        key: "to",
        title: "To",
        secondary: true,
        sort: (row) => row.spec.destination,
        cell: (row) => row.spec.destination ?? <span class="muted">where it came from</span>,
    },
    {
        key: "items",
        title: "Items",
        number: true,
        secondary: true,
        cell: (row) =>
            row.status.progress ? `${row.status.progress.itemsRestored} of ${row.status.progress.totalItems}` : "–",
    },
    {
        key: "created",
        title: "Asked for",
        number: true,
        sort: (row) => time(row.metadata.creationTimestamp),
        cell: (row) => <Ago time={row.metadata.creationTimestamp} />,
    },
    { key: "problem", title: "What it says", secondary: true, class: "wide", cell: (row) => <Words restore={row} /> },
    {
        key: "actions",
        title: "",
        class: "actions",
        cell: (row) => <ActionMenu of={row.metadata.name} actions={() => restoreActions(row)} />,
    },
];

export function RestoresScreen() {
    need(restores, backups, settings, ...downloads);
    return (
        <Screen
            title="Restores"
            command={command("restore", "get")}
            actions={
                <>
                    <FilterBox label="Filter restores" />
                    {mayAct.value && (
                        <button class="button primary" onClick={() => openRestoreWizard()}>
                            Restore something
                        </button>
                    )}
                </>
            }
        >
            <RestoreDetail />
            <Slots />
            <div class="card">
                <Table
                    label="Restores"
                    noun="restore"
                    rows={restores.all()}
                    columns={COLUMNS}
                    keyOf={(row) => row.metadata.name}
                    text={(row) =>
                        `${row.metadata.name} ${row.status.phase} ${source(row)} ${row.spec.destination ?? ""}`
                    }
                    sort={{ column: "created", down: true }}
                    loaded={restores.loaded.value}
                    rowProps={(row) => ({
                        "data-phase": row.status.phase,
                        "data-pending": isDraft(row) ? "true" : undefined,
                    })}
                    empty={
                        <>
                            <strong>Nothing has been restored yet.</strong>
                            <span>Pick a backup and say what shall come back, and where to.</span>
                            {mayAct.value && (
                                <button class="button primary" onClick={() => openRestoreWizard()}>
                                    Restore something
                                </button>
                            )}
                        </>
                    }
                />
            </div>
        </Screen>
    );
}

/** Why it waits, and at which place, or what went wrong. */
function Words({ restore }: { restore: Restore }) {
    const waiting = restore.status.conditions.find(
        (condition) => condition.type === "Waiting" && condition.status === "True",
    );
    if (!waiting || restoreIsOver(restore))
        return <span title={restore.status.failureReason}>{restore.status.failureReason ?? ""}</span>;
    return (
        <span title={waiting.message}>
            {restore.status.queuePosition && <span class="muted">#{restore.status.queuePosition} </span>}
            <Reason reason={waiting.reason} /> {waiting.message}
        </span>
    );
}

/** How many volumes come back now, how many may, and why the others wait. */
function Slots() {
    const limit = Number(setting(LIMIT) ?? 5);
    const all = transfersDown();
    const busy = all.filter(
        (one) => isMoving(one) || one.status.phase === "Accepted" || one.status.phase === "Prepared",
    );
    const waiting = all
        .filter((one) => one.status.phase === "New")
        .sort((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""));
    return (
        <Card title="Slots" end={<LimitForm limit={limit} />}>
            <div class="body stack">
                {limit === 0 ? (
                    <p class="notice warn">Restores are paused: the limit is 0.</p>
                ) : (
                    <p>
                        {busy.length} of {plural(limit, "volume")} at once;{" "}
                        {plural(waiting.length, "volume waits", "volumes wait")}.
                    </p>
                )}
                {waiting.slice(0, 10).map((one, index) => (
                    <p key={keyOf(one)} class="row" data-waiting={keyOf(one)}>
                        <span class="muted">{index + 1}</span>
                        <span>
                            {one.spec.volumeNamespace}/{one.spec.volumeName}
                            {ownerOf(one) && (
                                <>
                                    {" "}
                                    of <Link to={restoreLink(ownerOf(one)!)}>{ownerOf(one)}</Link>
                                </>
                            )}
                        </span>
                        {waitingOf(one) && (
                            <>
                                <Reason reason={waitingOf(one)!.reason} />
                                <span class="muted small">{waitingOf(one)!.message}</span>
                            </>
                        )}
                    </p>
                ))}
                {waiting.length > 10 && <p class="muted">and {waiting.length - 10} more</p>}
            </div>
        </Card>
    );
}

function LimitForm({ limit }: { limit: number }) {
    const choices = [limit - 1, limit + 1].filter((value) => value >= 0);
    return (
        <>
            {choices.map((value) => (
                <ActionButton
                    key={value}
                    small
                    action={{
                        label: value < limit ? `Fewer (${value})` : `More (${value})`,
                        command: commands.set(LIMIT, String(value)),
                        done:
                            value === 0
                                ? "Restores are paused."
                                : `At most ${plural(value, "volume")} at once from now on.`,
                        run: () => setSetting(LIMIT, String(value)),
                    }}
                />
            ))}
        </>
    );
}

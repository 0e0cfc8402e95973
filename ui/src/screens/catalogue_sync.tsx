// How old the catalogue is, target by target, and what waits for somebody.

import type { TargetCatalogue } from "../api/types";
import { brokenWords, isSyncing, syncHeadline } from "../logic/catalogue";
import { asClockToday } from "../logic/moments";
import { percent, plural } from "../logic/quantities";
import { ActionButton } from "../parts/actions";
import { Link } from "../parts/link";
import { Card } from "../parts/screen";
import { Ago, At, Bar, Phase } from "../parts/words";
import { status } from "../store/catalogue";
import { now } from "../store/clock";
import { confirmVanishedAction, syncTargetAction } from "./catalogue_actions";

export function SyncCard() {
    const catalogue = status.value;
    if (!catalogue) return <div class="card empty">Asking how old the catalogue is…</div>;
    if (catalogue.targets.length === 0)
        return (
            <div class="card empty">
                <strong>No target yet.</strong>
                <Link to="/targets">Add the place that backups are written to</Link>
            </div>
        );
    return (
        <Card title={syncHeadline(catalogue.targets, (time) => asClockToday(time, now.value))} label="Sync state">
            <ul class="targets">
                {catalogue.targets.map((one) => (
                    <Target key={one.name} one={one} />
                ))}
            </ul>
        </Card>
    );
}

const stateOf = (one: TargetCatalogue): string =>
    one.available === false ? "Unreachable" : isSyncing(one) ? "Syncing" : one.sync.failures ? "Late" : "Available";

function Target({ one }: { one: TargetCatalogue }) {
    const state = stateOf(one);
    return (
        <li data-target={one.name} data-state={state}>
            <div class="row">
                <strong>{one.name}</strong>
                <Phase phase={state} words={state === "Late" ? "Not all could be read" : state} />
                <span class="muted">
                    {plural(one.backups, "backup")} of {plural(one.volumes, "volume")}
                </span>
                {isSyncing(one) ? <Progress one={one} /> : <LastSeen one={one} />}
                <span class="end">
                    <ActionButton small action={syncTargetAction(one.name)} />
                </span>
            </div>
            {state === "Unreachable" && (
                <p class="notice warn">
                    It does not answer, since <At time={one.since} />. What it held then is still listed. It says:{" "}
                    {one.message}
                </p>
            )}
            {state === "Late" && one.sync.messages[0] && <p class="notice warn">{one.sync.messages[0]}</p>}
            {brokenWords(one) && (
                <p class="notice warn">
                    {brokenWords(one)}: <Link to={`/catalogue?target=${one.name}&state=Error`}>show the backups</Link>
                </p>
            )}
            {one.heldBack && (
                <p class="notice warn row">
                    <span>{one.heldBack}</span> <ActionButton small action={confirmVanishedAction(one)} />
                </p>
            )}
        </li>
    );
}

function Progress({ one: { name, sync } }: { one: TargetCatalogue }) {
    const part = percent(sync.done, sync.total);
    return (
        <span class="row syncing">
            <Bar percent={part} label={`Sync of ${name}`} />
            <span class="muted">
                {sync.total > 0
                    ? `${sync.done.toLocaleString("en")} of ${sync.total.toLocaleString("en")}`
                    : "listing volumes"}
            </span>
        </span>
    );
}

const LastSeen = ({ one }: { one: TargetCatalogue }) => (
    <span class="muted">
        {one.lastSyncedAt && "last full "}
        <Ago time={one.lastSyncedAt} none="not read yet" />
    </span>
);

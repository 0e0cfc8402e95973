import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, pathOf } from "../api/client";
import { command } from "../logic/commands";
import { type Failed, failedLately, failures, SCHEDULE_LABEL, verdict } from "../logic/protection";
import { duration, plural, time } from "../logic/quantities";
import { runOf, type Run, strip } from "../logic/strip";
import { backupLink, Link } from "../parts/link";
import { Card, Screen } from "../parts/screen";
import { Ago, Phase } from "../parts/words";
import { cronNumbers, cronWords } from "../store/cron";
import { now } from "../store/clock";
import { protection, watchProtection } from "../store/protection";
import { keyOf } from "../store/collection";
import {
    backups,
    need,
    restores,
    schedules,
    setting,
    settings,
    systemBackups,
    targets,
    volumes,
} from "../store/resources";
import { mayAct } from "../store/session";
import { isOver, openBackupForm, phaseOf } from "./backup_actions";
import { restoreIsOver } from "./restore_actions";

export function Overview() {
    need(backups, restores, systemBackups, volumes, schedules, targets, settings);
    useEffect(watchProtection, []);
    // Of backups there may be very many: what volumes and targets tell is not held back for the last of them.
    const loaded = [volumes, schedules, targets, settings].every((kind) => kind.loaded.value) && protection.value;
    return (
        <Screen
            title="Overview"
            command={command("backup", "get")}
            actions={
                mayAct.value && (
                    <button class="button primary" onClick={() => openBackupForm()}>
                        Back up now
                    </button>
                )
            }
        >
            {loaded ? (
                <Sentence />
            ) : (
                <div class="card verdict">
                    <p class="muted">Looking at volumes, schedules and targets…</p>
                </div>
            )}
            <Tiles />
            <Strips />
            <div class="grid">
                <NextRuns />
                <Recent />
            </div>
        </Screen>
    );
}

// Ages matter by the minute here.
const minute = (): number => Math.floor(now.value / 60_000) * 60_000;

const failedNow = (): Failed[] => [
    ...failedLately(backups.all(), minute()),
    ...failedLately(restores.all(), minute()),
    ...failedLately(systemBackups.all(), minute()),
];

/** Where the first kind of them is listed. */
const failedLink = ([first]: readonly Failed[]): string =>
    first?.kind === "Restore" ? "/restores?q=Failed" : first?.kind === "SystemBackup" ? "/system" : "/backups?q=Failed";

function Sentence() {
    const failed = failedNow();
    const paused =
        setting("backup-queue-paused") === "true" && backups.all().some((backup) => backup.status.phase === "Queued");
    const found = verdict(
        { volumes: volumes.all(), protection: protection.value ?? new Map(), targets: targets.all(), failed, paused },
        minute(),
    );
    return (
        <div class="card verdict" data-tone={found.tone} role="status">
            <p>{found.sentence}</p>
            <ul>
                {found.details.map((line) => (
                    <li key={line}>{line}.</li>
                ))}
                {!backups.loaded.value && (
                    <li class="muted">
                        Backups are still being read, {backups.size.toLocaleString("en")} so far: what failed among the
                        others is not counted yet.
                    </li>
                )}
            </ul>
            {found.tone === "empty" && (
                <Link to={targets.size === 0 ? "/targets" : "/volumes"}>
                    {targets.size === 0 ? "Add a target" : "Add a volume"}
                </Link>
            )}
        </div>
    );
}

type TileProps = { to: string; value: string; label: string; more?: string; bad?: boolean };

const Tile = ({ to, value, label, more, bad }: TileProps) => (
    <Link to={to} class="card tile">
        <span>{label}</span>
        <b data-bad={bad || undefined}>{value}</b>
        <span>{more ?? "\u00a0"}</span>
    </Link>
);

function Tiles() {
    const all = backups.all();
    const queued = all.filter((backup) => backup.status.phase === "Queued");
    const running = all.filter((backup) => !isOver(backup) && !["New", "Queued"].includes(backup.status.phase));
    const oldest = queued.reduce((least, one) => Math.min(least, time(one.status.queuedAt) ?? least), now.value);
    const back = restores.all().filter((restore) => !restoreIsOver(restore));
    const failed = failedNow();
    const never = volumes.all().filter((volume) => protection.value?.get(keyOf(volume))?.state === "Never");
    const down = targets.all().filter((target) => target.status.available === false);
    return (
        <div class="tiles">
            <Tile
                to="/running"
                label="Running"
                value={String(running.length + back.length)}
                {...(back.length
                    ? { more: `${plural(running.length, "backup")}, ${plural(back.length, "restore")}` }
                    : {})}
            />
            <Tile
                to="/queue"
                label="Queued"
                value={queued.length.toLocaleString("en")}
                {...(queued.length ? { more: `longest wait ${duration((now.value - oldest) / 1000)}` } : {})}
            />
            <Tile
                to={failedLink(failed)}
                label="Failed in 24 hours"
                value={String(failed.length)}
                bad={failed.length > 0}
                {...(failed.length ? { more: failures(failed) } : {})}
            />
            <Tile
                to="/volumes?q=never"
                label="Never backed up"
                value={String(never.length)}
                bad={never.length > 0}
                more={`of ${plural(volumes.size, "volume")}`}
            />
            <Tile
                to="/targets"
                label="Targets"
                value={`${targets.size - down.length} of ${targets.size}`}
                bad={down.length > 0}
                more={down.length ? "not all answer" : "all answer"}
            />
        </div>
    );
}

const STATES = ["ok", "late", "failed", "missed"] as const;

function Strips() {
    const byName = new Map<string, Run[]>();
    for (const run of [...backups.all(), ...systemBackups.all().map(runOf)]) {
        const name = run.metadata.labels[SCHEDULE_LABEL];
        if (!name) continue;
        const runs = byName.get(name);
        if (runs) runs.push(run);
        else byName.set(name, [run]);
    }
    return (
        <Card title="Thirty days" label="Thirty days of each schedule">
            <div class="body strips">
                {schedules.size === 0 && (
                    <p class="muted">
                        No schedule yet. <Link to="/schedules">Add one</Link>, and each of its days is shown here.
                    </p>
                )}
                {schedules.all().map((schedule) => {
                    const name = schedule.metadata.name;
                    const days = strip(schedule, byName.get(name) ?? [], minute(), cronNumbers);
                    const bad = days.filter((day) => day.state === "failed" || day.state === "missed").length;
                    return (
                        <div class="strip-line" key={name}>
                            <Link to={`/schedules?q=${encodeURIComponent(name)}`}>{name}</Link>
                            <div
                                class="strip"
                                role="img"
                                aria-label={`${name}: ${bad ? `${plural(bad, "day")} failed or missed` : "no day failed or missed"} of thirty`}
                            >
                                {days.map((day) => (
                                    <i key={day.date} data-state={day.state} title={`${day.date}: ${day.words}`} />
                                ))}
                            </div>
                        </div>
                    );
                })}
                {schedules.size > 0 && (
                    <div class="legend" aria-hidden="true">
                        {STATES.map((state) => (
                            <span key={state}>
                                <span class="strip">
                                    <i data-state={state} />
                                </span>
                                {state}
                            </span>
                        ))}
                    </div>
                )}
            </div>
        </Card>
    );
}

type Next = { name: string; at: string };

function NextRuns() {
    const runs = useSignal<Next[]>([]);
    const active = schedules
        .all()
        .filter((schedule) => !schedule.spec.paused)
        .slice(0, 20);
    const key =
        active.map((schedule) => `${schedule.metadata.name}${schedule.metadata.generation}`).join() +
        Math.floor(minute() / 300_000);
    useEffect(() => {
        const ask = async ({ metadata: { name } }: (typeof active)[number]): Promise<Next[]> => {
            const answer = await get<{ times: { utc: string }[] }>(`${pathOf("schedules", name)}/next?count=1`);
            return answer.times[0] ? [{ name, at: answer.times[0].utc }] : [];
        };
        void Promise.all(active.map((schedule) => ask(schedule).catch(() => []))).then(
            (found) =>
                (runs.value = found
                    .flat()
                    .sort((a, b) => a.at.localeCompare(b.at))
                    .slice(0, 6)),
        );
    }, [key]);
    return (
        <Card title="Next runs">
            {runs.value.length === 0 ? (
                <div class="body muted">{active.length ? "Asking the server…" : "Nothing is planned."}</div>
            ) : (
                <table>
                    <tbody>
                        {runs.value.map((run) => (
                            <tr key={run.name}>
                                <td>
                                    <Link to={`/schedules?q=${encodeURIComponent(run.name)}`}>{run.name}</Link>
                                </td>
                                <td class="muted secondary">
                                    {cronWords(schedules.get(run.name)?.spec.schedule ?? "")}
                                </td>
                                <td class="number">
                                    <Ago time={run.at} />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
        </Card>
    );
}

function Recent() {
    const ended = backups
        .all()
        .filter((backup) => backup.status.completionTimestamp)
        .sort((a, b) => b.status.completionTimestamp!.localeCompare(a.status.completionTimestamp!))
        .slice(0, 8);
    return (
        <Card title="Recently ended" end={<Link to="/backups">All backups</Link>}>
            {ended.length === 0 ? (
                <div class="body muted">No backup has ended yet.</div>
            ) : (
                <table>
                    <tbody>
                        {ended.map((backup) => (
                            <tr key={backup.metadata.uid}>
                                <td class="wide">
                                    <Link to={backupLink(backup.metadata.name)} title={backup.metadata.name}>
                                        {backup.metadata.name}
                                    </Link>
                                </td>
                                <td>
                                    <Phase phase={phaseOf(backup)} />
                                </td>
                                <td class="number">
                                    <Ago time={backup.status.completionTimestamp} />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
        </Card>
    );
}

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, pathOf } from "../api/client";
import type { Schedule } from "../api/types";
import { command, commands, flag } from "../logic/commands";
import { kindsOf } from "../logic/calendar";
import { chipsOf } from "../logic/globs";
import { coversNothing, SCHEDULE_LABEL } from "../logic/protection";
import { asExact, shortTimes } from "../logic/moments";
import { plural, time } from "../logic/quantities";
import { type Action, ActionMenu } from "../parts/actions";
import { openDialog } from "../parts/dialog";
import { Form, list, type Values } from "../parts/form";
import { Link } from "../parts/link";
import { Screen } from "../parts/screen";
import { type Column, FilterBox, Table } from "../parts/table";
import { Ago, Namespaces, Phase } from "../parts/words";
import { cronHint, cronWords } from "../store/cron";
import { now } from "../store/clock";
import { protection, watchProtection } from "../store/protection";
import { create, draft, isDraft, pauseSchedule, remove, runSchedule } from "../store/operations";
import { backups, namespaces, need, schedules, systemBackups, targets, volumes } from "../store/resources";
import { mayManage } from "../store/session";
import { ALLOW_EMPTY } from "./backup_actions";
import { LoadCalendar } from "./schedule_calendar";
import { POLICIES } from "./system_actions";

const stateOf = (schedule: Schedule): string => (schedule.spec.paused ? "Paused" : schedule.status.phase);
const madeBy = (name: string): number =>
    [...backups.all(), ...systemBackups.all()].filter((one) => one.metadata.labels[SCHEDULE_LABEL] === name).length;

function actionsOf(schedule: Schedule): Action[] {
    const name = schedule.metadata.name;
    const paused = !schedule.spec.paused;
    return [
        {
            label: "Run now",
            command: commands.runSchedule(name),
            done: schedule.spec.systemBackup
                ? `A system backup of ${name} is on its way.`
                : `A backup of ${name} is in the queue.`,
            run: () => runSchedule(name),
        },
        {
            label: paused ? "Pause" : "Resume",
            command: commands.pauseSchedule(name, paused),
            done: paused ? `${name} makes no backups until it is resumed.` : `${name} makes backups again.`,
            run: () => pauseSchedule(name, paused),
        },
        {
            label: "Delete",
            command: commands.deleteSchedule(name),
            done: `${name} is gone.`,
            danger: true,
            run: () => remove(schedules, schedule),
            ask: {
                title: `Delete schedule ${name}?`,
                consequences: () => [
                    "It makes no more backups.",
                    schedule.spec.useOwnerReferencesInBackup
                        ? `Its ${plural(madeBy(name), "backup")} and their data are deleted with it.`
                        : `Its ${plural(madeBy(name), "backup")} stay until they expire.`,
                ],
                confirm: "Delete the schedule",
            },
        },
    ];
}

function NextFive({ schedule }: { schedule: Schedule }) {
    const times = useSignal<string[] | null>(null);
    const name = schedule.metadata.name;
    useEffect(() => {
        get<{ times: { utc: string }[] }>(`${pathOf("schedules", name)}/next?count=5`).then(
            (answer) => (times.value = answer.times.map((one) => one.utc)),
            () => (times.value = []),
        );
    }, [name, schedule.metadata.generation, Math.floor(now.value / 300_000)]);
    if (schedule.spec.paused) return <span class="muted">paused</span>;
    if (times.value === null) return <span class="muted">asking…</span>;
    return (
        <span title={times.value.map((one) => asExact(Date.parse(one))).join("\n")} data-next={times.value.length}>
            <Ago time={times.value[0]} />{" "}
            <span class="muted small">then {shortTimes(times.value.slice(1)).join(" · ")}</span>
        </span>
    );
}

/** One that makes backups of nothing is no good sign, whatever its phase. */
function State({ schedule }: { schedule: Schedule }) {
    if (stateOf(schedule) !== "Enabled" || !protection.value || !coversNothing(schedule, protection.value))
        return <Phase phase={stateOf(schedule)} />;
    return (
        <span title={`No volume matches: ${command("schedule", "describe", schedule.metadata.name)}`}>
            <Phase phase="CoversNothing" />
        </span>
    );
}

function Skipped({ schedule }: { schedule: Schedule }) {
    const skipped = schedule.status.conditions.find(
        (condition) => condition.type === "Skipped" && condition.status === "True",
    );
    return skipped ? (
        <span class="phase" data-tone="warn" title={skipped.message}>
            skipped: {skipped.reason}
        </span>
    ) : null;
}

/** The namespaces, or the system itself; and whether the result is proven to restore. */
function Protects({ schedule }: { schedule: Schedule }) {
    const { systemBackup, verification, template } = schedule.spec;
    return (
        <span class="chips">
            {systemBackup ? (
                <span class="chip" title={`volumes are backed up first: ${systemBackup.volumeBackupPolicy}`}>
                    system backup
                </span>
            ) : (
                <Namespaces scope={template} />
            )}
            {verification && (
                <span
                    class="chip lit"
                    title={`the newest good one is proven to restore ${cronWords(verification.schedule)}`}
                >
                    verification
                </span>
            )}
        </span>
    );
}

const COLUMNS: Column<Schedule>[] = [
    {
        key: "name",
        title: "Schedule",
        sort: (row) => row.metadata.name,
        cell: (row) => <span class="name">{row.metadata.name}</span>,
    },
    {
        key: "state",
        title: "State",
        sort: stateOf,
        cell: (row) => (
            <>
                <State schedule={row} /> <Skipped schedule={row} />
            </>
        ),
    },
    {
        key: "when",
        title: "When",
        sort: (row) => row.spec.schedule,
        cell: (row) => (
            <span title={row.spec.schedule}>
                {cronWords(row.spec.schedule)} <span class="muted small">{row.spec.timezone}</span>
            </span>
        ),
    },
    {
        key: "next",
        title: "Next five runs",
        secondary: true,
        cell: (row) => (isDraft(row) ? null : <NextFive schedule={row} />),
    },
    {
        key: "makes",
        title: "Protects",
        secondary: true,
        sort: (row) => (row.spec.systemBackup ? "" : chipsOf(row.spec.template).join()),
        cell: (row) => <Protects schedule={row} />,
    },
    {
        key: "last",
        title: "Last run",
        number: true,
        sort: (row) => time(row.status.lastBackup),
        cell: (row) => <Ago time={row.status.lastBackup} none="never" />,
    },
    {
        key: "backups",
        title: "Backups",
        number: true,
        secondary: true,
        sort: (row) => madeBy(row.metadata.name),
        cell: (row) => (
            <Link to={`/${row.spec.systemBackup ? "system" : "backups"}?q=${encodeURIComponent(row.metadata.name)}`}>
                {madeBy(row.metadata.name)}
            </Link>
        ),
    },
    {
        key: "actions",
        title: "",
        class: "actions",
        cell: (row) => <ActionMenu of={row.metadata.name} actions={() => actionsOf(row)} />,
    },
];

export function SchedulesScreen() {
    need(schedules, backups, systemBackups, targets, namespaces, volumes);
    useEffect(watchProtection, []);
    return (
        <Screen
            title="Schedules"
            command={command("schedule", "get")}
            actions={
                <>
                    <FilterBox label="Filter schedules" />
                    {mayManage.value && (
                        <button class="button primary" onClick={openScheduleForm}>
                            Add a schedule
                        </button>
                    )}
                </>
            }
        >
            <div class="card">
                <Table
                    label="Schedules"
                    noun="schedule"
                    rows={schedules.all()}
                    columns={COLUMNS}
                    keyOf={(row) => row.metadata.name}
                    text={(row) =>
                        `${row.metadata.name} ${stateOf(row)} ${cronWords(row.spec.schedule)} ${kindsOf(row).join(" ")} ${chipsOf(row.spec.template).join(" ")}`
                    }
                    sort={{ column: "name", down: false }}
                    loaded={schedules.loaded.value}
                    rowProps={(row) => ({
                        "data-state": stateOf(row),
                        "data-pending": isDraft(row) ? "true" : undefined,
                    })}
                    empty={
                        <>
                            <strong>No schedule yet.</strong>
                            <span>A schedule asks for backups at set times, so that nobody has to remember.</span>
                            {mayManage.value && (
                                <button class="button primary" onClick={openScheduleForm}>
                                    Add a schedule
                                </button>
                            )}
                        </>
                    }
                />
            </div>
            <LoadCalendar />
        </Screen>
    );
}

function openScheduleForm(): void {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
    const specOf = (values: Values) => ({
        schedule: values["cron"] ?? "",
        timezone: values["zone"] || "UTC",
        template: {
            // What a system backup protects is said by its policy alone.
            includedNamespaces: values["system"] ? [] : list(values["namespaces"]),
            ...(values["ttl"] ? { ttl: values["ttl"] } : {}),
            ...(values["allowEmpty"] === "true" ? { allowEmpty: true } : {}),
        },
        ...(values["system"] ? { systemBackup: { volumeBackupPolicy: values["system"] } } : {}),
        ...(values["verify"] ? { verification: { schedule: values["verify"] } } : {}),
        ...(values["keepDaily"] ? { retention: { keepDaily: Number(values["keepDaily"]) } } : {}),
    });
    openDialog("Add a schedule", () => (
        <Form
            submit="Add the schedule"
            fields={[
                { name: "name", label: "Name", required: true },
                {
                    name: "cron",
                    label: "When (cron)",
                    required: true,
                    value: "30 2 * * *",
                    hint: (text) =>
                        cronHint(text) ??
                        "Minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly.",
                },
                { name: "zone", label: "Time zone", value: zone },
                {
                    name: "namespaces",
                    label: "Namespaces",
                    hint: "Names or globs, by commas; empty means all.",
                    suggestions: namespaces.all().map((one) => one.metadata.name),
                },
                {
                    name: "system",
                    label: "Makes",
                    kind: "select",
                    options: [
                        { value: "", label: "backups of these namespaces" },
                        ...POLICIES.map(({ value, label }) => ({ value, label: `system backups; first ${label}` })),
                    ],
                },
                {
                    name: "verify",
                    label: "Prove the newest (cron)",
                    placeholder: "never",
                    hint: (text) =>
                        cronHint(text) ?? "When its newest good backup is restored and compared, such as 0 6 * * SUN.",
                },
                { name: "ttl", label: "Keep each for", placeholder: "30d" },
                { name: "keepDaily", label: "Keep the newest of so many days", kind: "number", placeholder: "no rule" },
                ALLOW_EMPTY,
            ]}
            command={(values) =>
                command(
                    "schedule",
                    "create",
                    values["name"] || "NAME",
                    "--schedule",
                    values["cron"] || "CRON",
                    ...flag("timezone", values["zone"]),
                    ...flag("include-namespaces", !values["system"] && list(values["namespaces"]).join(",")),
                    ...flag("system-backup", values["system"]),
                    ...flag("verify-schedule", values["verify"]),
                    ...flag("ttl", values["ttl"]),
                    ...flag("keep-daily", values["keepDaily"]),
                    values["allowEmpty"] === "true" && "--allow-empty",
                )
            }
            send={async (values) => {
                const name = values["name"] ?? "";
                const spec = specOf(values);
                const drawn = {
                    kind: "Schedule",
                    metadata: draft(name),
                    spec: { ...spec, paused: false, template: { excludedNamespaces: [], ...spec.template } },
                    status: { phase: "New", conditions: [], unmatched: [] },
                };
                const { status } = await create(schedules, drawn as unknown as Schedule, { metadata: { name }, spec });
                return [`${name} runs ${cronWords(spec.schedule)}`, ...status.unmatched]
                    .map((one) => `${one}.`)
                    .join(" ");
            }}
        />
    ));
}

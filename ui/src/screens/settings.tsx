import { useSignal } from "@preact/signals";
import { KNOWN_SETTINGS, type Setting } from "../api/types";
import { command, commands } from "../logic/commands";
import { plural } from "../logic/quantities";
import { matchesFilter } from "../logic/tables";
import { type Action, ActionButton } from "../parts/actions";
import { Command } from "../parts/command";
import { Card, Screen } from "../parts/screen";
import { FilterBox } from "../parts/table";
import { cancelBackup, setSetting, unsetSetting } from "../store/operations";
import { param } from "../store/place";
import { backups, need, settings } from "../store/resources";
import { mayAct, mayManage } from "../store/session";

// What can stop all work at once, where the server does not say so itself.
const DANGEROUS = new Set(["backup-queue-paused", "concurrent-backup-restore-limit", "overlap-detection"]);

const isDangerous = (setting: Setting): boolean => {
    const category = (setting.status as { category?: string }).category;
    return category === "danger zone" || DANGEROUS.has(setting.metadata.name);
};

export function SettingsScreen() {
    need(settings, backups);
    const all = settings
        .all()
        .filter((one) =>
            matchesFilter(`${one.metadata.name} ${KNOWN_SETTINGS[one.metadata.name]?.description ?? ""}`, param("q")),
        )
        .sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
    return (
        <Screen title="Settings" command={command("setting", "get")} actions={<FilterBox label="Filter settings" />}>
            <Card title="Settings" end={<span class="muted small">they hold at once, without a restart</span>}>
                {!settings.loaded.value && <div class="empty">Loading settings from the server…</div>}
                {all
                    .filter((one) => !isDangerous(one))
                    .map((one) => (
                        <OneSetting key={one.metadata.name} setting={one} />
                    ))}
            </Card>
            <Card
                title="Danger zone"
                class="danger-zone"
                end={<span class="muted small">these can stop all work</span>}
            >
                {all.filter(isDangerous).map((one) => (
                    <OneSetting key={one.metadata.name} setting={one} />
                ))}
                <CancelQueue />
            </Card>
        </Screen>
    );
}

function OneSetting({ setting }: { setting: Setting }) {
    const name = setting.metadata.name;
    const known = KNOWN_SETTINGS[name];
    const typed = useSignal<string | null>(null);
    const value = typed.value ?? setting.spec.value;
    const changed = value !== setting.spec.value;
    const long = (known?.default ?? "").startsWith("{");
    const save: Action = {
        label: "Save",
        command: commands.set(name, value),
        done: `${name} is ${value} from now on.`,
        run: async () => {
            await setSetting(name, value);
            typed.value = null;
        },
    };
    const reset: Action = {
        label: "Back to default",
        command: commands.unset(name),
        done: `${name} has its default again.`,
        run: () => unsetSetting(name),
    };
    const field = { id: `setting-${name}`, value, disabled: !mayManage.value, "aria-describedby": `about-${name}` };
    const isChoice = known?.default === "true" || known?.default === "false";
    return (
        <div class="setting" data-row={name}>
            <label for={field.id}>
                <code>{name}</code>{" "}
                <span class="muted small">
                    {known && setting.spec.value !== known.default ? `default: ${known.default}` : "default"}
                </span>
            </label>
            <div class="row">
                {isChoice ? (
                    <select
                        class="input search"
                        {...field}
                        onChange={(event) => (typed.value = event.currentTarget.value)}
                    >
                        <option>true</option>
                        <option>false</option>
                    </select>
                ) : long ? (
                    <textarea class="input" {...field} onInput={(event) => (typed.value = event.currentTarget.value)} />
                ) : (
                    <input
                        class="input search"
                        {...field}
                        onInput={(event) => (typed.value = event.currentTarget.value)}
                    />
                )}
                {changed && <ActionButton primary action={save} />}
                {!changed && known && setting.spec.value !== known.default && <ActionButton action={reset} />}
            </div>
            <p class="muted small" id={`about-${name}`}>
                {known?.description}
            </p>
            {changed && <Command text={save.command} />}
        </div>
    );
}

/** Calls off everything that waits: for the day on which a wrong schedule has filled the queue. */
function CancelQueue() {
    const waiting = backups
        .all()
        .filter((one) => one.status.phase === "Queued" || one.status.phase === "New")
        .map((one) => one.metadata.name);
    if (!mayAct.value || waiting.length === 0) return null;
    const shown =
        waiting.length <= 20
            ? commands.cancelBackup(...waiting)
            : `${command("queue", "list", "-o", "name")} | cut -d/ -f2 | xargs ${command("backup", "cancel", "--yes")}`;
    return (
        <div class="setting">
            <p>{plural(waiting.length, "backup waits", "backups wait")} in the queue.</p>
            <div class="row">
                <ActionButton
                    action={{
                        label: "Cancel all that wait",
                        command: shown,
                        done: `${plural(waiting.length, "backup is", "backups are")} being cancelled.`,
                        danger: true,
                        run: async () => {
                            for (const name of waiting) await cancelBackup(name);
                        },
                        ask: {
                            title: "Cancel all backups that wait?",
                            consequences: () => [
                                `${plural(waiting.length, "backup ends", "backups end")} as Canceled; what runs goes on.`,
                            ],
                            confirm: "Cancel them all",
                        },
                    }}
                />
            </div>
        </div>
    );
}

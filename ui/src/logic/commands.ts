// The command that does the same: every action of the page is shown as one. tests/page runs them for real.

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

export const quote = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

type Words = (string | number | false | undefined)[];

export const command = (...words: Words): string =>
    ["tidegate", ...words.filter((word) => word !== false && word !== undefined && word !== "")]
        .map((word) => quote(String(word)))
        .join(" ");

/** `--name value`, or nothing where there is no value. */
export const flag = (name: string, value: string | undefined | false): Words => (value ? [`--${name}`, value] : []);

export const commands = {
    cancelBackup: (...names: string[]) => command("backup", "cancel", ...names, "--yes"),
    deleteBackup: (name: string) => command("backup", "delete", name, "--yes"),
    describeBackup: (name: string) => command("backup", "describe", name),
    describeRestore: (name: string) => command("restore", "describe", name),
    pinBackup: (name: string, pinned: boolean) => command("backup", pinned ? "pin" : "unpin", name),
    explain: (name: string) => command("queue", "explain", name),
    move: (name: string, to: number) => command("queue", "move", name, "--to", to),
    pauseQueue: (paused: boolean) => command("queue", paused ? "pause" : "resume"),
    queue: () => command("queue", "list"),
    set: (name: string, value: string) => command("setting", "set", name, value),
    unset: (name: string) => command("setting", "unset", name),
    deleteVolume: (key: string) => command("volume", "delete", key, "--yes"),
    deleteTarget: (name: string) => command("target", "delete", name, "--yes"),
    adoptStore: (name: string) => command("target", "adopt", name, "--yes"),
    cancelRestore: (name: string) => command("restore", "cancel", name, "--yes"),
    deleteRestore: (name: string) => command("restore", "delete", name, "--yes"),
    pauseSchedule: (name: string, paused: boolean) => command("schedule", paused ? "pause" : "resume", name),
    runSchedule: (name: string) => command("schedule", "run-now", name),
    verify: (backup: string, name: string) => command("verify", "create", backup, "--name", name),
    cancelVerification: (name: string) => command("verify", "cancel", name, "--yes"),
    browse: (backup: string, volume: string, path: string) =>
        command("backup", "browse", backup, path, ...flag("volume", volume)),
    download: (backup: string, volume: string, path: string) =>
        command("backup", "download", backup, path, ...flag("volume", volume)),
    logs: (noun: "backup" | "restore", name: string) => command(noun, "logs", name),
    deleteSystemBackup: (name: string) => command("system", "backup", "delete", name, "--yes"),
    deleteSystemRestore: (name: string) => command("system", "restore", "delete", name, "--yes"),
    deleteSchedule: (name: string) => command("schedule", "delete", name, "--yes"),
};

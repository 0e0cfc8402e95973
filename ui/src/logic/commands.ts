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
    pinBackup: (name: string, pinned: boolean) => command("backup", pinned ? "pin" : "unpin", name),
    explain: (name: string) => command("queue", "explain", name),
    move: (name: string, to: number) => command("queue", "move", name, "--to", to),
    pauseQueue: (paused: boolean) => command("queue", paused ? "pause" : "resume"),
    queue: () => command("queue", "list"),
    set: (name: string, value: string) => command("setting", "set", name, value),
    unset: (name: string) => command("setting", "unset", name),
    deleteVolume: (key: string) => command("volume", "delete", key, "--yes"),
    deleteTarget: (name: string) => command("target", "delete", name, "--yes"),
    cancelRestore: (name: string) => command("restore", "cancel", name, "--yes"),
    deleteRestore: (name: string) => command("restore", "delete", name, "--yes"),
    pauseSchedule: (name: string, paused: boolean) => command("schedule", paused ? "pause" : "resume", name),
    runSchedule: (name: string) => command("schedule", "run-now", name),
    deleteSchedule: (name: string) => command("schedule", "delete", name, "--yes"),
};

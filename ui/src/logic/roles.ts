// What a command needs. The server decides; this only keeps the page from showing what it would refuse.

export type Role = "viewer" | "operator" | "admin";

const RANKS: Role[] = ["viewer", "operator", "admin"];

export const includes = (role: Role, other: Role): boolean => RANKS.indexOf(role) >= RANKS.indexOf(other);

// As in the server's table (docs/access.md): what destroys data, and what decides what is kept where and who comes in.
const ADMIN = [
    /^(setting|token|user|namespace|notification|load) (?!get|list|status|test)/,
    /^queue (pause|resume)/,
    /^(target|volume) (create|delete|set)/,
    /^schedule (create|delete|set|edit)/,
    /^(backup|backup-volume|catalog|system backup) delete/,
    /^deletion create/,
    /^system restore create/,
];

/** Every action of the page is shown as a command, so the command tells what the action needs. */
export const roleFor = (command: string): Role =>
    ADMIN.some((pattern) => pattern.test(command.replace(/^tidegate /, ""))) ? "admin" : "operator";

// Who is looking at the page, and what they may do.

import { computed, signal } from "@preact/signals";
import { call, get, Problem, whenRefused } from "../api/client";
import type { Session } from "../api/types";
import { includes, type Role, roleFor } from "../logic/roles";
import { start, stop, whenOpenedOrEnded } from "./live";
import { forgetAll } from "./resources";

export type Door = { state: "asking" } | { state: "closed"; message: string } | { state: "open"; session: Session };

export const door = signal<Door>({ state: "asking" });
const role = computed<Role>(() => (door.value.state === "open" ? door.value.session.role : "viewer"));
/** Viewers see everything and change nothing; the server refuses them too. */
export const mayAct = computed(() => includes(role.value, "operator"));
/** Administrators also delete data and change what is kept where, and who comes in. */
export const mayManage = computed(() => includes(role.value, "admin"));
/** Whether the server would do what this command does. */
export const mayRun = (command: string): boolean => includes(role.value, roleFor(command));

function enter(session: Session): void {
    door.value = { state: "open", session };
    void start();
}

/** The change of one's own password while it is under way: until its answer brings a new session, the old one is refused. */
let renewing: Promise<unknown> | null = null;

/**
 * Ask who one is now: another role shows other actions, and nobody at all is asked to log in. Only this answer ends a
 * session: a call that is refused may have set out with a cookie that was renewed meanwhile.
 */
async function askAgain(): Promise<boolean> {
    await renewing?.catch(() => undefined);
    const answer = await get<Session>("/v1/session").catch((error: unknown) => error);
    const at = door.value;
    if (at.state !== "open") return false;
    if (answer instanceof Problem && answer.status === 401) {
        stop();
        door.value = { state: "closed", message: "Your session is over; please log in again." };
    }
    if (answer instanceof Error) return false;
    const session = answer as Session;
    if (session.role !== at.session.role || session.user !== at.session.user) door.value = { state: "open", session };
    return true;
}

whenOpenedOrEnded(askAgain);

whenRefused(() => {
    if (door.value.state === "open") void askAgain();
});

export async function knock(): Promise<void> {
    try {
        enter(await get<Session>("/v1/session"));
    } catch (error) {
        const away = !(error instanceof Problem) || error.status !== 401;
        door.value = { state: "closed", message: away ? "The server does not answer; it is tried again." : "" };
        if (away) setTimeout(() => void knock(), 2000);
    }
}

export type Key = { token: string } | { user: string; password: string };

export async function login(key: Key): Promise<void> {
    enter(await call<Session>("POST", "/v1/login", key));
}

/** By the old one. Every other session of this user ends; this one goes on. */
export async function changeOwnPassword(user: string, password: string, newPassword: string): Promise<void> {
    renewing = call<Session>("POST", "/v1/password", { user, password, newPassword });
    try {
        await renewing;
    } finally {
        renewing = null;
    }
}

export async function logout(): Promise<void> {
    stop();
    await call("POST", "/v1/logout").catch(() => undefined);
    forgetAll();
    door.value = { state: "closed", message: "You are logged out." };
}

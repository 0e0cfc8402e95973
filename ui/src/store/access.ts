// Tokens and users. No stream tells of them, so they are asked for when somebody looks and after each change.

import { signal } from "@preact/signals";
import { call, get, pathOf } from "../api/client";
import type { AccessToken, IssuedToken, User, UserChange } from "../api/types";
import type { Role } from "../logic/roles";

export const tokens = signal<AccessToken[] | null>(null);
export const users = signal<User[] | null>(null);

export async function loadAccess(): Promise<void> {
    const [foundTokens, foundUsers] = await Promise.all([
        get<{ data: AccessToken[] }>("/v1/tokens"),
        get<{ data: User[] }>("/v1/users"),
    ]);
    tokens.value = foundTokens.data;
    users.value = foundUsers.data;
}

async function changed<T>(work: Promise<T>): Promise<T> {
    const answer = await work;
    await loadAccess();
    return answer;
}

export const createToken = (name: string, role: Role, expiresAt: string | undefined): Promise<IssuedToken> =>
    changed(call<IssuedToken>("POST", "/v1/tokens", { name, role, ...(expiresAt ? { expiresAt } : {}) }));

export const revokeToken = (name: string): Promise<unknown> => changed(call("DELETE", pathOf("tokens", name)));

export const createUser = (name: string, role: Role, password: string): Promise<User> =>
    changed(call<User>("POST", "/v1/users", { name, role, password }));

export const changeUser = (name: string, change: Partial<UserChange>): Promise<User> =>
    changed(call<User>("PUT", pathOf("users", name), change));

export const deleteUser = (name: string): Promise<unknown> => changed(call("DELETE", pathOf("users", name)));

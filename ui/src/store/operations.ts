// What the user can change. Each shows its effect at once and takes it back if the server refuses.

import { call, get, pathOf, Problem } from "../api/client";
import type { Backup, Restore, Schedule, Setting, Verification } from "../api/types";
import { type AnyResource, type Collection, keyOf } from "./collection";
import { backups, noteAnswer, restores, schedules, settings, verifications } from "./resources";

async function withSketch<T>(undo: () => void, work: Promise<T>): Promise<T> {
    try {
        return await work;
    } catch (error) {
        undo();
        throw error;
    }
}

export async function cancelBackup(name: string): Promise<void> {
    const undo = backups.sketch(name, (held) => held && { ...held, spec: { ...held.spec, cancel: true } });
    noteAnswer(await withSketch(undo, call<Backup>("POST", `${pathOf("backups", name)}/cancel`)));
}

export async function cancelRestore(name: string): Promise<void> {
    const undo = restores.sketch(name, (held) => held && { ...held, spec: { ...held.spec, cancel: true } });
    noteAnswer(await withSketch(undo, call<Restore>("POST", `${pathOf("restores", name)}/cancel`)));
}

export async function cancelVerification(name: string): Promise<void> {
    const undo = verifications.sketch(name, (held) => held && { ...held, spec: { ...held.spec, cancel: true } });
    noteAnswer(await withSketch(undo, call<Verification>("POST", `${pathOf("verifications", name)}/cancel`)));
}

export async function pinBackup(name: string, pinned: boolean): Promise<void> {
    noteAnswer(await call<Backup>("POST", `${pathOf("backups", name)}/${pinned ? "pin" : "unpin"}`));
}

/** Gone from the list at once; what has to be cleaned up goes on in the background and comes back as Deleting. */
export async function remove<T extends AnyResource>(collection: Collection<T>, resource: T): Promise<void> {
    const { name, namespace } = resource.metadata;
    const undo = collection.sketch(keyOf(resource), () => undefined);
    noteAnswer(await withSketch(undo, call<T | undefined>("DELETE", pathOf(collection.plural, name, namespace))));
}

/** A row that is there before the server has it; its answer takes the row's place. */
export async function create<T extends AnyResource>(collection: Collection<T>, drawn: T, body: unknown): Promise<T> {
    const undo = collection.sketch(keyOf(drawn), (held) => held ?? drawn);
    const answer = await withSketch(undo, call<T>("POST", `/v1/${collection.plural}`, body));
    noteAnswer(answer);
    return answer;
}

export async function setSetting(name: string, value: string): Promise<void> {
    const undo = settings.sketch(name, (held) => held && { ...held, spec: { value } });
    noteAnswer(
        await withSketch(undo, call<Setting>("PUT", pathOf("settings", name), { metadata: { name }, spec: { value } })),
    );
}

export async function unsetSetting(name: string): Promise<void> {
    await call("DELETE", pathOf("settings", name));
    settings.sketch(name, () => undefined);
    const now = await call<Setting>("GET", pathOf("settings", name));
    settings.sketch(name, () => now);
}

const ATTEMPTS = 5;

/** Pause or resume what is there now: somebody else's change in between is looked at again, never overwritten. */
export async function pauseSchedule(name: string, paused: boolean): Promise<void> {
    const undo = schedules.sketch(name, (held) => held && { ...held, spec: { ...held.spec, paused } });
    noteAnswer(await withSketch(undo, putPaused(name, paused)));
}

async function putPaused(name: string, paused: boolean): Promise<Schedule> {
    for (let attempt = 1; ; attempt++) {
        const { metadata, spec } = await get<Schedule>(pathOf("schedules", name));
        const { labels, annotations, resourceVersion } = metadata;
        const body = { metadata: { name, labels, annotations, resourceVersion }, spec: { ...spec, paused } };
        try {
            return await call<Schedule>("PUT", pathOf("schedules", name), body);
        } catch (error) {
            if (!(error instanceof Problem) || error.code !== "StaleVersion" || attempt === ATTEMPTS) throw error;
        }
    }
}

export async function runSchedule(name: string): Promise<Backup> {
    const made = await call<Backup>("POST", `${pathOf("schedules", name)}/run`);
    noteAnswer(made);
    return made;
}

const NOT_STORED = "not-stored";

/** Metadata of something that does not exist yet: no server gives out such a version. */
export const draft = (name: string, namespace = "") => ({
    name,
    namespace,
    uid: "",
    resourceVersion: NOT_STORED,
    generation: 0,
    labels: {},
    annotations: {},
    finalizers: [],
    ownerReferences: [],
    creationTimestamp: new Date().toISOString(),
});

export const isDraft = (resource: AnyResource): boolean => resource.metadata.resourceVersion === NOT_STORED;

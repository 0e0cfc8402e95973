// All resources of one kind that the page knows, kept up to date by deltas.

import { signal } from "@preact/signals";
import type { Metadata } from "../api/types";

export type AnyResource = { kind: string; metadata: Metadata };
export type Change = "ADDED" | "MODIFIED" | "DELETED";

export const keyOf = (resource: { metadata: { name: string; namespace: string } }): string =>
    resource.metadata.namespace ? `${resource.metadata.namespace}/${resource.metadata.name}` : resource.metadata.name;

const newer = (one: AnyResource, other: AnyResource): number =>
    Number(one.metadata.resourceVersion) - Number(other.metadata.resourceVersion);

export class Collection<T extends AnyResource> {
    /** Counts changes; whoever shows the collection reads it, and is drawn again with the next one. */
    readonly version = signal(0);
    readonly loaded = signal(false);
    private items = new Map<string, T>();
    // A list may arrive after the news that one of its items is gone: a uid never comes back.
    private gone = new Set<string>();
    private sorted: T[] | null = null;
    private listVersion = "";
    // What is drawn before the server has answered: only its answer replaces it.
    private drawn = new WeakSet<T>();

    constructor(readonly plural: string) {}

    all(): T[] {
        this.version.value;
        this.sorted ??= [...this.items.values()];
        return this.sorted;
    }

    get(key: string): T | undefined {
        this.version.value;
        return this.items.get(key);
    }

    get size(): number {
        this.version.value;
        return this.items.size;
    }

    /** Take in one change; what is older than what we have is no news. Call `publish` after the last of a batch. */
    note(change: Change, resource: T): void {
        const key = keyOf(resource);
        const held = this.items.get(key);
        if (change === "DELETED") {
            this.gone.add(resource.metadata.uid);
            if (held?.metadata.uid === resource.metadata.uid) this.items.delete(key);
        } else if (!this.gone.has(resource.metadata.uid) && (!held || this.isNews(change, resource, held))) {
            this.items.set(key, resource);
        }
    }

    /** A place in the queue changes without a new version: nobody writes it down. */
    private isNews(change: Change, resource: T, held: T): boolean {
        const by = newer(resource, held);
        return by > 0 || (by === 0 && change === "MODIFIED" && !this.drawn.has(held));
    }

    publish(): void {
        this.sorted = null;
        this.version.value += 1;
    }

    /** Whether a list of this version or a later one was taken in; without a version: never. */
    isListedSince(version: string | undefined): boolean {
        return version !== undefined && this.loaded.value && Number(this.listVersion) >= Number(version);
    }

    /** A whole list: what it does not name is no longer there, unless it came after the list was made. */
    replaceAll(resources: readonly T[], listVersion: string): void {
        const named = new Set(resources.map(keyOf));
        for (const [key, held] of this.items) {
            if (!named.has(key) && Number(held.metadata.resourceVersion) <= Number(listVersion)) this.items.delete(key);
        }
        for (const resource of resources) this.note("ADDED", resource);
        this.gone.clear();
        this.listVersion = listVersion;
        this.loaded.value = true;
        this.publish();
    }

    /** A part of a list that is still coming, so that the first rows can be shown before the last are here. */
    addPage(resources: readonly T[]): void {
        for (const resource of resources) this.note("ADDED", resource);
        this.publish();
    }

    /** Show what the user asked for before the server has answered; call what is returned if it refuses. */
    sketch(key: string, draw: (held: T | undefined) => T | undefined): () => void {
        const held = this.items.get(key);
        const drawn = draw(held);
        if (drawn) {
            this.items.set(key, drawn);
            this.drawn.add(drawn);
        } else this.items.delete(key);
        this.publish();
        return () => {
            if (this.items.get(key) !== drawn) return; // the server has spoken meanwhile
            if (held) this.items.set(key, held);
            else this.items.delete(key);
            this.publish();
        };
    }

    forget(): void {
        this.items.clear();
        this.loaded.value = false;
        this.publish();
    }
}

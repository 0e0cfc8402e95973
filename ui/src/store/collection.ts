// All resources of one kind that the page knows, kept up to date by deltas.

import { signal } from "@preact/signals";
import type { Metadata } from "../api/types";

export type AnyResource = { kind: string; metadata: Metadata };
export type Change = "ADDED" | "MODIFIED" | "DELETED";

export const keyOf = (resource: { metadata: { name: string; namespace: string } }): string =>
    resource.metadata.namespace ? `${resource.metadata.namespace}/${resource.metadata.name}` : resource.metadata.name;

// Versions are equal or not; neither of two is the newer.
const isSameVersion = (one: AnyResource, other: AnyResource): boolean =>
    one.metadata.uid === other.metadata.uid && one.metadata.resourceVersion === other.metadata.resourceVersion;

const MOST_HEARD = 2000;

/** The newest of what was put in. */
class Recent {
    private values = new Set<string>();

    add(value: string): void {
        this.values.delete(value);
        this.values.add(value);
        if (this.values.size > MOST_HEARD) this.values.delete(this.values.values().next().value!);
    }

    has(value: string): boolean {
        return this.values.has(value);
    }
}

const stateOf = ({ metadata }: AnyResource): string => `${metadata.uid} ${metadata.resourceVersion}`;

export class Collection<T extends AnyResource> {
    /** Counts changes; whoever shows the collection reads it, and is drawn again with the next one. */
    readonly version = signal(0);
    readonly loaded = signal(false);
    private items = new Map<string, T>();
    // An answer may arrive after the news that its resource is gone: a uid never comes back.
    private gone = new Recent();
    // An answer may arrive after the change that it is about, and after later ones.
    private heard = new Recent();
    // What changed since the list was asked for that is under way.
    private changed: Set<string> | null = null;
    private sorted: T[] | null = null;
    // What is drawn before the server has answered: another place in the queue is no answer.
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

    /** Take in one change of the stream, which brings them in order. Call `publish` after the last of a batch. */
    note(change: Change, resource: T): void {
        const key = keyOf(resource);
        const held = this.items.get(key);
        this.changed?.add(key);
        this.heard.add(stateOf(resource));
        if (change === "DELETED") {
            this.gone.add(resource.metadata.uid);
            if (held?.metadata.uid === resource.metadata.uid) this.items.delete(key);
        } else if (!this.gone.has(resource.metadata.uid) && !this.isDrawnFrom(resource, held)) {
            this.items.set(key, resource);
        }
    }

    /** Take in the answer to a request, unless the stream has brought it before: it may have brought later ones, too. */
    noteAnswer(resource: T): void {
        const key = keyOf(resource);
        if (this.gone.has(resource.metadata.uid)) return;
        if (this.heard.has(stateOf(resource)) && !this.isDrawnFrom(resource, this.items.get(key))) return;
        this.changed?.add(key);
        this.items.set(key, resource);
        this.publish();
    }

    private isDrawnFrom(resource: T, held: T | undefined): boolean {
        return held !== undefined && this.drawn.has(held) && isSameVersion(resource, held);
    }

    publish(): void {
        this.sorted = null;
        this.version.value += 1;
    }

    /** Call this right before a list is asked for: from then on a change is newer than the list's row. */
    expectList(): void {
        this.changed = new Set();
    }

    /** A part of a list that is still coming, so that the first rows can be shown before the last are here. */
    addPage(resources: readonly T[]): void {
        for (const resource of resources) this.takeRow(resource);
        this.publish();
    }

    /** A whole list: what it does not name is no longer there, unless it came after the list was asked for. */
    replaceAll(resources: readonly T[]): void {
        const named = new Set(resources.map(keyOf));
        for (const key of [...this.items.keys()]) {
            if (!named.has(key) && !this.changed?.has(key)) this.items.delete(key);
        }
        for (const resource of resources) this.takeRow(resource);
        this.changed = null;
        this.loaded.value = true;
        this.publish();
    }

    private takeRow(resource: T): void {
        const key = keyOf(resource);
        if (this.changed?.has(key) || this.isDrawnFrom(resource, this.items.get(key))) return;
        this.items.set(key, resource);
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

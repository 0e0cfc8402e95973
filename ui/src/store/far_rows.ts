// Rows of a list that only the server holds: pages come as one scrolls, and old ones are let go.

import { signal } from "@preact/signals";
import { get } from "../api/client";

export const PAGE = 100;
const MOST_PAGES = 30;
const QUIET_MS = 50;

type Answer<T> = { data: T[]; pagination: { next: string | null } };
type Page<T> = { rows: T[]; epoch: number };
type Ask = <T>(path: string) => Promise<T>;

export class FarRows<T> {
    /** Counts changes; whoever shows rows reads it, and is drawn again with the next one. */
    readonly version = signal(0);
    readonly problem = signal<unknown>(null);
    private pages = new Map<number, Page<T>>();
    private markers = new Map<number, string>();
    private view: [number, number] = [0, 1];
    private epoch = 0;
    private asking = false;
    private timer: ReturnType<typeof setTimeout> | undefined;

    /** `path` names the list with its filter. */
    constructor(
        private readonly path: string,
        private readonly ask: Ask = get,
    ) {}

    at(index: number): T | undefined {
        this.version.value;
        return this.pages.get(Math.floor(index / PAGE))?.rows[index % PAGE];
    }

    /** How many rows are held: bounded, however long the list is. */
    get held(): number {
        return [...this.pages.values()].reduce((sum, page) => sum + page.rows.length, 0);
    }

    /** These are looked at. Whoever drags the scroll bar passes by many: only where it rests is asked for. */
    look(from: number, to: number): void {
        this.view = [from, Math.max(to, from + 1)];
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.fetch(), QUIET_MS);
    }

    /** Ask now for what is looked at and not there. */
    async refreshed(): Promise<void> {
        clearTimeout(this.timer);
        await this.fetch();
    }

    /** What is held may be old: what is in view is asked for again, and shown until the answer is there. */
    async refresh(): Promise<void> {
        this.epoch += 1;
        this.markers.clear();
        await this.fetch();
    }

    /** Gone at once, before the server has answered; the next refresh tells the truth. */
    drop(isGone: (row: T) => boolean): void {
        for (const page of this.pages.values()) page.rows = page.rows.filter((row) => !isGone(row));
        this.version.value += 1;
    }

    private missing(): number | undefined {
        const [first, last] = this.view.map((index) => Math.floor(index / PAGE)) as [number, number];
        for (let number = first; number <= last; number++)
            if (this.pages.get(number)?.epoch !== this.epoch) return number;
        return undefined;
    }

    private async fetch(): Promise<void> {
        if (this.asking) return;
        this.asking = true;
        try {
            for (let number = this.missing(); number !== undefined; number = this.missing()) await this.load(number);
            this.problem.value = null;
        } catch (error) {
            this.problem.value = error;
        } finally {
            this.asking = false;
        }
    }

    private async load(number: number): Promise<void> {
        const epoch = this.epoch;
        const marker = this.markers.get(number);
        const begin = marker ? `marker=${encodeURIComponent(marker)}` : `skip=${number * PAGE}`;
        const join = this.path.includes("?") ? "&" : "?";
        const { data, pagination } = await this.ask<Answer<T>>(`${this.path}${join}limit=${PAGE}&${begin}`);
        if (epoch === this.epoch && pagination.next) this.markers.set(number + 1, pagination.next);
        this.pages.delete(number); // the youngest is the last
        this.pages.set(number, { rows: data, epoch });
        for (const oldest of this.pages.keys()) {
            if (this.pages.size <= MOST_PAGES) break;
            this.pages.delete(oldest);
        }
        this.version.value += 1;
    }
}

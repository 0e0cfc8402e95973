// Answers that the server works out, such as the queue: asked for anew when something they depend on has changed.

import { effect } from "@preact/signals";

// What costs the server time is asked for at most for a quarter of the time.
const LEAST_MS = 500;
const SHARE = 4;

export class Asked {
    private watchers = 0;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private cost = 0;
    private lastAsked = -Infinity; // never
    private asking = false;
    private again = false;

    /** `depends` reads the signals whose change makes the answer old. */
    constructor(
        private readonly ask: () => Promise<void>,
        private readonly depends: () => void,
    ) {}

    /** Keep the answer fresh until what is returned is called. */
    watch(): () => void {
        this.watchers += 1;
        const stop = effect(() => {
            this.depends();
            if (this.lastAsked < 0 && !this.asking) this.atOnce();
            else this.soon();
        });
        return () => {
            stop();
            this.watchers -= 1;
            if (this.watchers > 0) return;
            clearTimeout(this.timer);
            this.timer = undefined;
        };
    }

    soon(): void {
        if (this.timer !== undefined) return;
        const wait = Math.max(LEAST_MS, this.cost * SHARE) - (performance.now() - this.lastAsked);
        this.timer = setTimeout(
            () => {
                this.timer = undefined;
                void this.now();
            },
            Math.max(0, wait),
        );
    }

    /** Somebody looks at something else, and shall not wait for the share of time. */
    atOnce(): void {
        clearTimeout(this.timer);
        this.timer = undefined;
        void this.now();
    }

    private async now(): Promise<void> {
        if (this.asking) {
            this.again = true;
            return;
        }
        this.asking = true;
        this.again = false;
        const begun = performance.now();
        // A failure is told by the banner; the stream brings the next change.
        await this.ask().catch(() => undefined);
        this.lastAsked = performance.now();
        this.cost = this.lastAsked - begun;
        this.asking = false;
        if (this.again) this.soon();
    }
}

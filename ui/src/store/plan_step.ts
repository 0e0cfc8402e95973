// The last step of every dialog that shows a plan before it is carried out: looked at once, carried out at most once.

import { type ReadonlySignal, signal } from "@preact/signals";

export interface PlanStep<P> {
    plan: ReadonlySignal<P | null>;
    /** What went wrong, as a sentence; empty if nothing did. */
    problem: ReadonlySignal<string>;
    /** Whether it can be carried out now: there is a plan, and nobody has said yes to it yet. */
    ready: () => boolean;
    look: () => Promise<void>;
    /** True once it is on its way. After a problem it may be tried again. */
    go: () => Promise<boolean>;
}

export function planStep<P>(
    ask: () => Promise<P>,
    carryOut: (plan: P) => Promise<unknown>,
    sentence: (error: unknown) => string,
): PlanStep<P> {
    const plan = signal<P | null>(null);
    const problem = signal("");
    const busy = signal(false);
    const ready = () => plan.value !== null && !busy.value;
    return {
        plan,
        problem,
        ready,
        look: async () => {
            try {
                plan.value = await ask();
            } catch (error) {
                problem.value = sentence(error);
            }
        },
        go: async () => {
            if (plan.value === null || !ready()) return false;
            busy.value = true;
            try {
                await carryOut(plan.value);
                return true;
            } catch (error) {
                problem.value = sentence(error);
                busy.value = false;
                return false;
            }
        },
    };
}

/** A moment as the end of a name: yyyymmddhhmmss, in UTC. */
export const stamp = (moment = new Date()): string => moment.toISOString().slice(0, 19).replace(/\D/g, "");

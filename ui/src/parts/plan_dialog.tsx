// What would happen, and the button that makes it happen: the last step of the dialogs that restore something.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { planStep } from "../store/plan_step";
import { sentence } from "./actions";
import { Command } from "./command";
import { closeDialog } from "./dialog";
import { tell } from "./toasts";

interface Props<P> {
    title: string;
    /** What is shown until there is a plan. */
    looking: string;
    ask: () => Promise<P>;
    carryOut: (plan: P) => Promise<unknown>;
    show: (plan: P) => ComponentChildren;
    /** What the button says, and whether it warns; absent for a plan that cannot be carried out as it is. */
    verb: (plan: P | null) => { label: string; danger: boolean } | undefined;
    /** The command that shows the same plan. */
    planCommand: string;
    /** Told once it is on its way, with the command that would have done the same. */
    done: { text: string; command: string };
    back: () => void;
}

export function PlanDialog<P>({ title, looking, ask, carryOut, show, verb, planCommand, done, back }: Props<P>) {
    const step = useMemo(() => planStep(ask, carryOut, sentence), []);
    useEffect(() => void step.look(), []);
    const go = async () => {
        if (!(await step.go())) return;
        closeDialog();
        tell("good", done.text, done.command);
    };
    const plan = step.plan.value;
    const problem = step.problem.value;
    const offer = verb(plan);
    return (
        <>
            <p>{title}</p>
            {problem && (
                <p class="problem" role="alert">
                    {problem}
                </p>
            )}
            {plan ? show(plan) : !problem && <p class="muted">{looking}</p>}
            <Command text={planCommand} />
            <footer>
                <button class="button" onClick={back}>
                    Back
                </button>
                {offer && (
                    <button
                        class={`button primary ${offer.danger ? "danger" : ""}`}
                        disabled={!step.ready()}
                        onClick={() => void go()}
                    >
                        {offer.label}
                    </button>
                )}
            </footer>
        </>
    );
}

/** The end of a list of which only the first were shown. */
export function AndMore({ of, shown, muted = false }: { of: number; shown: number; muted?: boolean }) {
    return of > shown ? <li class={muted ? "muted" : undefined}>and {of - shown} more</li> : null;
}

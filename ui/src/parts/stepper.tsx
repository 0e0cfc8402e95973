import { type Step, stepWords } from "../logic/system";

/** Steps in their order: what is done, what goes on now, what comes, and where it ended badly. */
export function Stepper({ label, steps }: { label: string; steps: Step[] }) {
    return (
        <ol class="stepper" aria-label={label}>
            {steps.map((step) => (
                <li
                    key={step.name}
                    data-step={step.name}
                    data-state={step.state}
                    aria-current={step.state === "now" ? "step" : undefined}
                >
                    <span>{stepWords(step.name)}</span>
                    <span class="hidden-label">
                        {{ done: "done", now: "under way", todo: "to come", bad: "failed" }[step.state]}
                    </span>
                </li>
            ))}
        </ol>
    );
}

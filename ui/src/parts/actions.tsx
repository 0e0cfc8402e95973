// Everything that changes something: a button, the command that does the same, and what came of it.

import { useSignal } from "@preact/signals";
import { Problem } from "../api/client";
import { mayRun } from "../store/session";
import { Command } from "./command";
import { closeDialog, openDialog } from "./dialog";
import { tell } from "./toasts";

export type Action = {
    label: string;
    command: string;
    /** What to say once the server has agreed; nothing where the action only opens something. */
    done: string;
    run: () => Promise<unknown>;
    /** Ask first: what will happen, and what depends on it. */
    ask?: { title: string; consequences: () => (string | false)[]; confirm: string };
    danger?: boolean;
    /** Where more has to be asked first than yes or no: opens its form in place of running. */
    open?: () => void;
};

export const sentence = (error: unknown): string =>
    error instanceof Problem ? error.sentence : `The page hit a bug: ${String(error)}`;

export async function perform(action: Action): Promise<boolean> {
    try {
        await action.run();
        if (action.done) tell("good", action.done, action.command);
        return true;
    } catch (error) {
        tell("bad", `${action.label}: ${sentence(error)}`);
        return false;
    }
}

export function start(action: Action): Promise<unknown> | undefined {
    if (action.open) {
        action.open();
        return undefined;
    }
    if (!action.ask) return perform(action);
    openDialog(action.ask.title, () => <Ask action={action} />);
    return undefined;
}

function Ask({ action }: { action: Action }) {
    const busy = useSignal(false);
    const confirm = async () => {
        busy.value = true;
        closeDialog();
        await perform(action);
    };
    return (
        <>
            <ul class="stack">{action.ask!.consequences().map((line) => line && <li key={line}>{line}</li>)}</ul>
            <Command text={action.command} />
            <footer>
                <button class="button" onClick={closeDialog}>
                    Keep it
                </button>
                <button
                    class={`button primary ${action.danger ? "danger" : ""}`}
                    disabled={busy.value}
                    onClick={confirm}
                    autoFocus
                >
                    {action.ask!.confirm}
                </button>
            </footer>
        </>
    );
}

type ButtonProps = { action: Action; small?: boolean; primary?: boolean };

/** Nothing at all for those whom the server would refuse. */
export function ActionButton({ action, small, primary }: ButtonProps) {
    const busy = useSignal(false);
    if (!mayRun(action.command)) return null;
    const onClick = async () => {
        busy.value = true;
        await start(action);
        busy.value = false;
    };
    const looks = [small && "small", primary && "primary", action.danger && "danger"].filter(Boolean).join(" ");
    return (
        <button class={`button ${looks}`} title={action.command} disabled={busy.value} onClick={onClick}>
            {action.label}
        </button>
    );
}

/** All actions of one row, each with its command. */
export function ActionMenu({ of, actions }: { of: string; actions: () => Action[] }) {
    const open = () => openDialog(of, () => <Menu actions={actions()} />);
    return (
        <button
            class="button small quiet"
            aria-label={`${actions().some((one) => mayRun(one.command)) ? "Actions" : "Commands"} for ${of}`}
            onClick={open}
        >
            ⋯
        </button>
    );
}

function Menu({ actions }: { actions: Action[] }) {
    const pick = (action: Action) => {
        closeDialog();
        void start(action);
    };
    return (
        <ul class="menu">
            {actions.map((action) => (
                <li key={action.label}>
                    {mayRun(action.command) ? (
                        <button class={`button ${action.danger ? "danger" : ""}`} onClick={() => pick(action)}>
                            {action.label}
                        </button>
                    ) : (
                        <span>{action.label}</span>
                    )}
                    <Command text={action.command} />
                </li>
            ))}
        </ul>
    );
}

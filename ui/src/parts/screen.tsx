import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Command } from "./command";

type Props = { title: string; command?: string; actions?: ComponentChildren; children: ComponentChildren };

/** The head of every screen: what it is, what one can do, and how to ask for the same on the command line. */
export function Screen({ title, command, actions, children }: Props) {
    useEffect(() => {
        document.title = `${title} · Tidegate`;
    }, [title]);
    return (
        <>
            <div class="screen-head">
                <h1>{title}</h1>
                {command && <Command text={command} />}
                <div class="end">{actions}</div>
            </div>
            {children}
        </>
    );
}

type CardProps = {
    title: ComponentChildren;
    end?: ComponentChildren;
    children: ComponentChildren;
    class?: string;
    label?: string;
};

export function Card({ title, end, children, class: looks = "", label }: CardProps) {
    return (
        <section class={`card ${looks}`} aria-label={label}>
            <header>
                <h2>{title}</h2>
                {end && <div class="end">{end}</div>}
            </header>
            {children}
        </section>
    );
}

export function OnlyAdmins({ title }: { title: string }) {
    return (
        <Screen title={title}>
            <div class="card empty">
                <strong>This is for administrators.</strong>
                <span>Log in as somebody with the role admin to see it.</span>
            </div>
        </Screen>
    );
}

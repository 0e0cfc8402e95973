import type { ComponentChildren } from "preact";
import { go } from "../store/place";

type Props = { to: string; class?: string; children: ComponentChildren; current?: boolean; title?: string };

/** A real link: the middle button and "copy address" work; a plain click stays on the page. */
export function Link({ to, children, current, ...rest }: Props) {
    const follow = (event: MouseEvent) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        go(to);
    };
    return (
        <a href={to} onClick={follow} aria-current={current ? "page" : undefined} {...rest}>
            {children}
        </a>
    );
}

export const backupLink = (name: string): string => `/backups/${encodeURIComponent(name)}`;
export const restoreLink = (name: string): string => `/restores?open=${encodeURIComponent(name)}`;

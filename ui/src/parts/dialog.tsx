import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

type Opened = { title: string; content: () => ComponentChildren };

const opened = signal<Opened | null>(null);

export function openDialog(title: string, content: () => ComponentChildren): void {
    opened.value = { title, content };
}

export function closeDialog(): void {
    opened.value = null;
}

/** One dialog at a time, of the browser's own kind: it keeps the focus in, and Escape closes it. */
export function DialogHost() {
    const now = opened.value;
    return now ? <Opened key={now.title} {...now} /> : null;
}

function Opened({ title, content: Content }: Opened) {
    const element = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        const before = document.activeElement;
        element.current?.showModal();
        return () => (before as HTMLElement | null)?.focus?.();
    }, []);
    const onBackdrop = (event: MouseEvent) => {
        if (event.target === element.current) closeDialog();
    };
    return (
        <dialog ref={element} aria-labelledby="dialog-title" onClose={closeDialog} onMouseDown={onBackdrop}>
            <div>
                <header>
                    <h2 id="dialog-title">{title}</h2>
                    <button class="button quiet small" aria-label="Close" onClick={closeDialog}>
                        ×
                    </button>
                </header>
                <Content />
            </div>
        </dialog>
    );
}

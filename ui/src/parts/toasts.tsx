import { signal } from "@preact/signals";
import { Command } from "./command";

type Toast = { id: number; tone: "good" | "bad"; words: string; command?: string };

const toasts = signal<Toast[]>([]);
const SHOWN_MS = { good: 6000, bad: 15_000 };
let count = 0;

/** Tell what came of an action. Failures stay longer: they have to be read. */
export function tell(tone: Toast["tone"], words: string, command?: string): void {
    const toast: Toast = { id: ++count, tone, words, ...(command ? { command } : {}) };
    toasts.value = [...toasts.value.slice(-3), toast];
    setTimeout(() => dismiss(toast.id), SHOWN_MS[tone]);
}

const dismiss = (id: number): void => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

export function Toasts() {
    return (
        <div class="toasts" role="status" aria-live="polite">
            {toasts.value.map((toast) => (
                <div key={toast.id} class="toast fade-in" data-tone={toast.tone}>
                    <div>
                        <span>{toast.words}</span>
                        <button class="button quiet small" aria-label="Dismiss" onClick={() => dismiss(toast.id)}>
                            ×
                        </button>
                    </div>
                    {toast.command && <Command text={toast.command} />}
                </div>
            ))}
        </div>
    );
}

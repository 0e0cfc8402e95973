import { useSignal } from "@preact/signals";

async function copy(text: string): Promise<boolean> {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        return false; // over plain http on another machine browsers allow no clipboard: the text can still be selected
    }
}

/** The same thing on the command line, to copy. */
export function Command({ text, label = `Copy the command ${text}` }: { text: string; label?: string }) {
    const state = useSignal("Copy");
    const onClick = async () => {
        state.value = (await copy(text)) ? "Copied" : "Select it";
        setTimeout(() => (state.value = "Copy"), 1500);
    };
    return (
        <div class="command" data-command={text}>
            <code tabIndex={0}>{text}</code>
            <button type="button" class="button small quiet" onClick={onClick} aria-label={label}>
                {state.value}
            </button>
        </div>
    );
}

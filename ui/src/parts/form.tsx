// A form in a dialog, with the command that does the same, written along while one types.

import { useSignal } from "@preact/signals";
import { sentence } from "./actions";
import { Command } from "./command";
import { closeDialog } from "./dialog";
import { tell } from "./toasts";

export type Field = {
    name: string;
    label: string;
    /** Of the field, or of what is typed into it. */
    hint?: string | ((value: string) => string);
    kind?: "text" | "number" | "check" | "select" | "password";
    options?: { value: string; label: string }[];
    placeholder?: string;
    required?: boolean;
    value?: string;
    suggestions?: string[];
};

export type Values = Record<string, string>;

export type FormProps = {
    fields: Field[];
    submit: string;
    command: (values: Values) => string;
    /** Sends it; resolves to the sentence that tells what happened. */
    send: (values: Values) => Promise<string>;
    /** Asks the server what would happen, without doing it. */
    preview?: (values: Values) => Promise<string>;
    /** What comes once it was sent and the form is closed. */
    after?: () => void;
};

export const list = (text: string | undefined): string[] =>
    (text ?? "")
        .split(/[\s,]+/)
        .map((word) => word.trim())
        .filter(Boolean);

export function Form({ fields, submit, command, send, preview, after }: FormProps) {
    const values = useSignal<Values>(Object.fromEntries(fields.map((field) => [field.name, field.value ?? ""])));
    const problem = useSignal("");
    const notice = useSignal("");
    const busy = useSignal(false);
    const set = (name: string, value: string) => (values.value = { ...values.value, [name]: value });
    const attempt = async (work: () => Promise<void>) => {
        busy.value = true;
        problem.value = "";
        notice.value = "";
        await work().catch((error) => (problem.value = sentence(error)));
        busy.value = false;
    };
    const onSubmit = (event: Event) => {
        event.preventDefault();
        void attempt(async () => {
            const told = await send(values.value);
            const same = command(values.value);
            closeDialog();
            tell("good", told, same);
            after?.();
        });
    };
    return (
        <form class="stack" onSubmit={onSubmit}>
            {fields.map((field) => (
                <FieldView
                    key={field.name}
                    field={field}
                    value={values.value[field.name] ?? ""}
                    set={(value) => set(field.name, value)}
                />
            ))}
            {problem.value && (
                <p class="problem" role="alert">
                    {problem.value}
                </p>
            )}
            {notice.value && <p class="notice">{notice.value}</p>}
            <Command text={command(values.value)} />
            <footer>
                {preview && (
                    <button
                        type="button"
                        class="button"
                        disabled={busy.value}
                        onClick={() => void attempt(async () => void (notice.value = await preview(values.value)))}
                    >
                        What would happen?
                    </button>
                )}
                <button type="submit" class="button primary" disabled={busy.value}>
                    {busy.value ? "Asking the server…" : submit}
                </button>
            </footer>
        </form>
    );
}

function FieldView({ field, value, set }: { field: Field; value: string; set: (value: string) => void }) {
    const id = `field-${field.name}`;
    const hint = typeof field.hint === "function" ? field.hint(value) : field.hint;
    if (field.kind === "check") {
        return (
            <label class="check">
                <input
                    type="checkbox"
                    checked={value === "true"}
                    onChange={(event) => set(String(event.currentTarget.checked))}
                />
                <span>
                    {field.label}
                    {hint && <small class="muted"> {hint}</small>}
                </span>
            </label>
        );
    }
    const typed = {
        id,
        class: "input",
        required: field.required,
        value,
        "aria-describedby": hint ? `${id}-hint` : undefined,
        spellcheck: false,
        onInput: (event: { currentTarget: HTMLInputElement }) => set(event.currentTarget.value),
    };
    return (
        <div class="field">
            <label for={id}>{field.label}</label>
            {field.kind === "password" ? (
                <input {...typed} type="password" autoComplete="new-password" />
            ) : field.kind === "select" ? (
                <select id={id} class="input" value={value} onChange={(event) => set(event.currentTarget.value)}>
                    {field.options?.map((option) => (
                        <option key={option.value} value={option.value}>
                            {option.label}
                        </option>
                    ))}
                </select>
            ) : (
                <input
                    {...typed}
                    type={field.kind ?? "text"}
                    placeholder={field.placeholder}
                    list={field.suggestions ? `${id}-list` : undefined}
                    autoComplete="off"
                />
            )}
            {field.suggestions && (
                <datalist id={`${id}-list`}>
                    {field.suggestions.map((one) => (
                        <option key={one} value={one} />
                    ))}
                </datalist>
            )}
            {hint && <small id={`${id}-hint`}>{hint}</small>}
        </div>
    );
}

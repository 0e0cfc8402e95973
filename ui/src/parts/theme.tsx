import { signal } from "@preact/signals";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const KEY = "tidegate-theme";

export const theme = signal<Theme>("auto");

export function startTheme(): void {
    const kept = localStorage.getItem(KEY);
    choose(THEMES.find((one) => one === kept) ?? "auto");
}

function choose(next: Theme): void {
    theme.value = next;
    document.documentElement.style.colorScheme = next === "auto" ? "light dark" : next;
    localStorage.setItem(KEY, next);
}

export function ThemeButton() {
    const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
    return (
        <button
            class="button quiet small"
            onClick={() => choose(next)}
            aria-label={`Colours: ${theme.value}. Switch to ${next}.`}
        >
            {{ auto: "◐ auto", light: "○ light", dark: "● dark" }[theme.value]}
        </button>
    );
}

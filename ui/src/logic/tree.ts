// Paths in a backup's tree: the way down to one, and the glob that means exactly this path.

export type Crumb = { name: string; path: string };

/** From the root down to `path`, which is percent-encoded; so are the paths of the crumbs. */
export function crumbs(path: string): Crumb[] {
    const parts = path.split("/").filter((part) => part !== "" && part !== ".");
    return parts.map((part, index) => ({ name: readable(part), path: parts.slice(0, index + 1).join("/") }));
}

/** For people: bytes that are no text are shown as U+FFFD. */
export function readable(encoded: string): string {
    const bytes = encoded.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
        String.fromCharCode(Number.parseInt(digits, 16)),
    );
    // What was not encoded is ASCII, so every character stands for one byte.
    return new TextDecoder().decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
}

/** Anchored at the root, with nothing in it that means something else; a byte that is no text matches any one. */
export const exactGlob = (path: string): string =>
    `/${path.replace(/[*?[]/g, (sign) => `[${sign}]`).replaceAll("\ufffd", "?")}`;

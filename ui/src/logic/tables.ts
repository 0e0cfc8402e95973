// Filter, sort and page of a table, from the address and back to it.

export type Sort = { column: string; down: boolean };
export const PAGE_ROWS = 100;

export function readSort(text: string, fallback: Sort): Sort {
    if (!text) return fallback;
    return text.startsWith("-") ? { column: text.slice(1), down: true } : { column: text, down: false };
}

export const writeSort = (sort: Sort): string => (sort.down ? `-${sort.column}` : sort.column);

export type SortValue = string | number | undefined;

const order = new Intl.Collator("en", { numeric: true });

/** What has no value comes last, whichever way the others stand. */
export function sorted<T>(rows: readonly T[], value: (row: T) => SortValue, down: boolean): T[] {
    const sign = down ? -1 : 1;
    return rows
        .map((row) => ({ row, at: value(row) }))
        .sort(({ at: a }, { at: b }) => {
            if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
            if (typeof a === "number" && typeof b === "number") return sign * (a - b);
            return sign * order.compare(String(a), String(b));
        })
        .map(({ row }) => row);
}

/** Every word of the filter must be somewhere in the text. */
export function matchesFilter(text: string, filter: string): boolean {
    const low = text.toLowerCase();
    return filter
        .toLowerCase()
        .split(/\s+/)
        .every((word) => low.includes(word));
}

export function pageOf<T>(rows: readonly T[], page: number): { rows: T[]; page: number; pages: number } {
    const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
    const shown = Math.min(Math.max(1, page || 1), pages);
    return { rows: rows.slice((shown - 1) * PAGE_ROWS, shown * PAGE_ROWS), page: shown, pages };
}

/** Rows that exist beyond what is in view. */
export const MARGIN = 8;

/** Which rows of a long list are in view, with some more above and below so that scrolling shows no holes. */
export function visible(
    total: number,
    rowHeight: number,
    scrollTop: number,
    height: number,
    margin = MARGIN,
): [number, number] {
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - margin);
    const last = Math.min(total, Math.ceil((scrollTop + height) / rowHeight) + margin);
    return [Math.min(first, total), Math.max(last, 0)];
}

/** Browsers place nothing beyond some seventeen million pixels: a longer list is scrolled in larger steps. */
export const TALLEST = 15_000_000;

export type Window = { from: number; to: number; before: number; after: number };

/** Which rows exist at this place of the scroll bar, and how much room is left above and below them. */
export function windowOf(total: number, rowHeight: number, scrollTop: number, height: number): Window {
    const whole = total * rowHeight;
    const tall = Math.min(whole, TALLEST);
    const top = Math.max(0, Math.min(scrollTop, tall - height));
    const at = top * stepOf(whole, tall, height);
    const [from, to] = visible(total, rowHeight, at, height);
    const before = Math.max(0, top - (at - from * rowHeight));
    return { from, to, before, after: Math.max(0, tall - before - (to - from) * rowHeight) };
}

/** Where the scroll bar is when this row is the first in view. */
export function scrollTopOf(row: number, total: number, rowHeight: number, height: number): number {
    const whole = total * rowHeight;
    return (row * rowHeight) / stepOf(whole, Math.min(whole, TALLEST), height);
}

const stepOf = (whole: number, tall: number, height: number): number =>
    whole > tall ? (whole - height) / (tall - height) : 1;

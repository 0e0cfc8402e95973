// Bytes, rates and lengths of time as people read them; the same words as on the command line.

export const UNKNOWN = "unknown";
const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const TIME_UNITS: [string, number][] = [
    ["d", 86_400],
    ["h", 3_600],
    ["m", 60],
    ["s", 1],
];
// An estimate beyond this is the noise of a rate near zero, not news.
const LONGEST_ETA_SECONDS = 100 * 86_400;

export function bytes(count: number): string {
    if (Math.abs(count) < 1024) return `${Math.round(count)} B`;
    let value = count;
    let text = "";
    for (const unit of UNITS) {
        value /= 1024;
        text = `${value.toFixed(Math.abs(value) < 100 ? 1 : 0)} ${unit}`;
        if (Math.round(Math.abs(value)) < 1024) break;
    }
    return text;
}

export const rate = (perSecond: number | undefined): string =>
    perSecond === undefined || perSecond < 0 ? UNKNOWN : `${bytes(perSecond)}/s`;

/** The two largest units: 3m12s, 2h5m, 3d4h. */
export function duration(seconds: number): string {
    let left = Math.max(0, Math.floor(seconds));
    const parts: string[] = [];
    for (const [unit, size] of TIME_UNITS) {
        const count = Math.floor(left / size);
        left -= count * size;
        if (count || parts.length) parts.push(count ? `${count}${unit}` : "");
    }
    return parts.slice(0, 2).join("") || "0s";
}

/** A length as a person says it: 100 years, 90d, and below two months its two largest units. */
export function span(seconds: number): string {
    const days = Math.round(seconds / 86_400);
    if (days < 60) return duration(seconds);
    if (days < 2 * 365.25) return `${days}d`;
    const months = Math.round((days * 12) / 365.25);
    const [years, rest] = [Math.floor(months / 12), months % 12];
    return years >= 5 || !rest ? `${Math.round(months / 12)} years` : `${years} years ${plural(rest, "month")}`;
}

/** What a backup of so many bytes added to the store, and why that may be more than itself. */
export function newInStore(fresh: number, size: number): string {
    if (!fresh) return size ? "nothing, all of it was there already" : "nothing";
    if (fresh > size) {
        const why = "because a volume is stored in whole blocks, and a tree with a list of its files";
        return `${bytes(fresh)}, more than the ${bytes(size)} backed up, ${why}`;
    }
    return `${bytes(fresh)}, ${Math.floor((fresh * 100) / size) || "less than 1"} % of the ${bytes(size)} backed up`;
}

/** Rounded down so that 100 means done; undefined when the whole is not known. */
export function percent(done: number, total: number | undefined): number | undefined {
    if (!total || total <= 0) return undefined;
    return Math.max(0, Math.min(100, Math.floor((done * 100) / total)));
}

export function timeLeft(done: number, total: number | undefined, perSecond: number | undefined): number | undefined {
    if (total === undefined || !perSecond || perSecond <= 0) return undefined;
    const seconds = Math.max(0, total - done) / perSecond;
    return seconds > LONGEST_ETA_SECONDS ? undefined : Math.round(seconds);
}

/** "4m ago", "in 2h"; within five seconds it is now, because two clocks never agree. */
export function relative(time: number, now: number): string {
    const seconds = Math.round((time - now) / 1000);
    if (Math.abs(seconds) < 5) return "now";
    const length = Math.abs(seconds) < 60 ? `${Math.abs(seconds)}s` : span(Math.floor(Math.abs(seconds) / 60) * 60);
    return seconds < 0 ? `${length} ago` : `in ${length}`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
    `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export const time = (text: string | undefined): number | undefined => (text ? Date.parse(text) : undefined);

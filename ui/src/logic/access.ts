// Pure parts of the screens about access: when a token ends, and what is asked of the audit.

const DAY_MS = 86_400_000;
export const AUDIT_ROWS = 100;

/** The end of a token that shall live for so many days; nothing for one without an end. */
export const expiryOf = (days: string, now: number): string | undefined =>
    Number(days) > 0 ? new Date(now + Number(days) * DAY_MS).toISOString() : undefined;

/** What `--since` takes, as hours: `24h`, `7d`. */
const HOURS: Record<string, number> = { h: 1, d: 24 };

export function sinceOf(text: string, now: number): string | undefined {
    const found = /^(\d+)([hd])$/.exec(text);
    return found ? new Date(now - Number(found[1]) * HOURS[found[2]!]! * 3_600_000).toISOString() : undefined;
}

export type AuditWish = { who: string; what: string; since: string; marker: string };

export function auditPath(wish: AuditWish, now: number): string {
    const query = new URLSearchParams({ limit: String(AUDIT_ROWS) });
    const since = sinceOf(wish.since, now);
    for (const [name, value] of Object.entries({ who: wish.who, what: wish.what, since, marker: wish.marker }))
        if (value) query.set(name, value);
    return `/v1/audit?${query}`;
}

/** What an answer means to somebody who only skims. */
export function outcomeWord(status: number): string {
    if (status < 400) return "Done";
    return status === 401 || status === 403 ? "Refused" : "Failed";
}

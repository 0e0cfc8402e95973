// Cron expressions: in words, on which days they run, and the longest gap between two runs.

const NICKNAMES: Record<string, string> = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
};
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

export type Cron = {
    minutes: number[];
    hours: number[];
    runsOn: (day: Date) => boolean;
};

function numbers(field: string, low: number, high: number, names: string[] = []): number[] | null {
    const found = new Set<number>();
    const read = (text: string): number => {
        const named = names.indexOf(text.toUpperCase());
        return named >= 0 ? named + low : /^\d+$/.test(text) ? Number(text) : Number.NaN;
    };
    for (const part of field.split(",")) {
        const [range = "", step = "1"] = part.split("/");
        const [from = "", to] = range.split("-");
        const start = range === "*" ? low : read(from);
        const end = range === "*" ? high : to === undefined ? (part.includes("/") ? high : start) : read(to);
        if (!(start >= low && end <= high && Number(step) >= 1)) return null;
        for (let n = start; n <= end; n += Number(step)) found.add(n);
    }
    return [...found].sort((a, b) => a - b);
}

export const fieldsOf = (text: string): string[] => (NICKNAMES[text.trim()] ?? text.trim()).split(/\s+/);

/** Null for what we do not understand (the server knows more than the page): then nothing is claimed. */
export function readCron(text: string): Cron | null {
    const fields = fieldsOf(text);
    if (fields.length !== 5) return null;
    const [minute = "", hour = "", dayOfMonth = "", month = "", weekday = ""] = fields;
    const minutes = numbers(minute, 0, 59);
    const hours = numbers(hour, 0, 23);
    const days = numbers(dayOfMonth, 1, 31);
    const months = numbers(month, 1, 12, MONTHS);
    const weekdays = numbers(
        weekday,
        0,
        7,
        DAYS.map((day) => day.slice(0, 3).toUpperCase()),
    );
    if (!minutes || !hours || !days || !months || !weekdays) return null;
    const weekdaySet = new Set(weekdays.map((day) => day % 7));
    const daySet = new Set(days);
    const monthSet = new Set(months);
    // As cron has it: where both are given, either is enough.
    const eitherDay = !dayOfMonth.startsWith("*") && !weekday.startsWith("*");
    const runsOn = (day: Date): boolean => {
        const byDate = daySet.has(day.getUTCDate());
        const byWeekday = weekdaySet.has(day.getUTCDay());
        return monthSet.has(day.getUTCMonth() + 1) && (eitherDay ? byDate || byWeekday : byDate && byWeekday);
    };
    return { minutes, hours, runsOn };
}

const two = (text: string): string => text.padStart(2, "0");
const isNumber = (text: string): boolean => /^\d+$/.test(text);

function evenStep(field: string, whole: number): number {
    const match = /^\*\/(\d+)$/.exec(field);
    const step = Number(match?.[1] ?? 0);
    return step >= 2 && whole % step === 0 ? step : 0;
}

function rhythm(minute: string, hour: string): string {
    if (minute === "*" && hour === "*") return "every minute";
    const minutes = evenStep(minute, 60);
    if (hour === "*" && minutes) return `every ${minutes} minutes`;
    if (hour === "*" && isNumber(minute))
        return minute === "0" ? "every hour" : `every hour at minute ${Number(minute)}`;
    const hours = evenStep(hour, 24);
    if (isNumber(minute) && hours) return `every ${hours} hours${minute === "0" ? "" : ` at minute ${Number(minute)}`}`;
    return "";
}

function dayName(part: string): string {
    if (isNumber(part)) return DAYS[Number(part) % 7] ?? "";
    return DAYS.find((day) => day.slice(0, 3).toUpperCase() === part.toUpperCase()) ?? "";
}

/** "every day at 02:30", or the expression itself where nobody would say it in words. */
export function cronWords(text: string): string {
    const [minute = "", hour = "", day = "", month = "", weekday = ""] = fieldsOf(text);
    if ([day, month, weekday].every((field) => field === "*")) {
        const found = rhythm(minute, hour);
        if (found) return found;
    }
    const hours = hour.split(",");
    if (!isNumber(minute) || !hours.every(isNumber) || month !== "*") return text;
    const at = hours.map((one) => `${two(one)}:${two(minute)}`).join(" and ");
    if (day === "*" && weekday === "*") return `every day at ${at}`;
    if (day === "*" && ["1-5", "MON-FRI"].includes(weekday.toUpperCase())) return `Monday to Friday at ${at}`;
    const names = weekday.split(",").map(dayName);
    if (day === "*" && names.every(Boolean)) return `every ${names.join(" and ")} at ${at}`;
    if (weekday === "*" && isNumber(day)) return `on day ${Number(day)} of every month at ${at}`;
    return text;
}

/** What somebody who types an expression wants to be told; undefined for what we cannot say in words. */
export function cronHint(text: string): string | undefined {
    if (!readCron(text)) return undefined;
    const words = cronWords(text);
    return words === text ? undefined : `Runs ${words}.`;
}

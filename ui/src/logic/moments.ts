// How times are written, everywhere with 24 hours: schedules are, and two ways side by side make one think.

const DAY = { month: "short", day: "numeric" } as const;
const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

const written = (options: Intl.DateTimeFormatOptions): ((moment: Date | number) => string) => {
    const format = new Intl.DateTimeFormat(undefined, options);
    return (moment) => format.format(moment);
};

export const asClock = written(CLOCK);
export const asSeconds = written({ ...CLOCK, second: "2-digit" });
export const asDay = written(DAY);
export const asWeekday = written({ ...DAY, weekday: "short" });
export const asWeekdayClock = written({ ...CLOCK, weekday: "long" });
export const asDayClock = written({ ...DAY, ...CLOCK });
/** All there is to say, with the zone: shown when pointed at. */
export const asExact = written({ dateStyle: "medium", timeStyle: "long", hourCycle: "h23" });

/** The time of day alone where it is today's, else with its day. */
export function asClockToday(time: string, now: number): string {
    const moment = new Date(time);
    return moment.toDateString() === new Date(now).toDateString() ? asClock(moment) : asDayClock(moment);
}

/** Coming times in few letters: hours while they are close together, else days. */
export function shortTimes(times: readonly string[]): string[] {
    const moments = times.map((one) => Date.parse(one));
    const close = (moments.at(-1) ?? 0) - (moments[0] ?? 0) < 86_400_000;
    return moments.map(close ? asClock : asDay);
}

// The days and times of a schedule, from the numbers that the server reads in its cron expression.

import type { CronNumbers } from "../api/types";

/** What is known of an expression; undefined: nothing is claimed. */
export type Numbers = (schedule: string) => CronNumbers | undefined;

/** Whether a schedule runs on this day, which is midnight UTC of a date. */
export function runsOn(cron: CronNumbers, day: Date): boolean {
    const byDate = cron.days.includes(day.getUTCDate());
    const byWeekday = cron.weekdays.includes(day.getUTCDay());
    const byDay = cron.eitherDay ? byDate || byWeekday : byDate && byWeekday;
    return byDay && cron.months.includes(day.getUTCMonth() + 1);
}

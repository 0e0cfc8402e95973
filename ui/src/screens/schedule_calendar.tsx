import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { calendar, type Hour, level, pileUps, type Planned } from "../logic/calendar";
import { asWeekday, asWeekdayClock } from "../logic/moments";
import { plural } from "../logic/quantities";
import { Card } from "../parts/screen";
import { now } from "../store/clock";
import { cronNumbers } from "../store/cron";
import { schedules } from "../store/resources";

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

const who = ({ schedule, kind, runs }: Planned): string =>
    `${schedule}${kind === "backup" ? "" : ` (${kind})`}${runs > 1 ? ` ${runs} times` : ""}`;
const words = (hour: Hour): string => `${plural(hour.runs, "run")}: ${hour.planned.map(who).join(", ")}`;

/** Which hour of the seven days from today has how many runs, so that one sees where they pile up. */
export function LoadCalendar() {
    const open = useSignal(true);
    const all = schedules.all();
    const day = Math.floor(now.value / 3_600_000);
    // Worked out anew when a schedule changes, and every hour; not with every tick of the clock.
    const numbers = all.flatMap(({ spec }) => [spec.schedule, spec.verification?.schedule ?? ""].map(cronNumbers));
    const days = useMemo(() => calendar(all, now.peek(), cronNumbers), [all, day, ...numbers]);
    if (all.length === 0) return null;
    const most = Math.max(1, ...days.flatMap((one) => one.hours.map((hour) => hour.runs)));
    const busy = pileUps(days);
    return (
        <Card
            title="Seven days from today"
            label="Load calendar"
            end={
                <>
                    <span class="legend">runs that begin in each hour, local time</span>
                    <button class="button small" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
                        {open.value ? "Hide" : "Show"}
                    </button>
                </>
            }
        >
            {open.value && (
                <div class="body stack">
                    <div class="table-wrap" tabIndex={0} role="region" aria-label="Runs by day and hour">
                        <table class="calendar">
                            <thead>
                                <tr>
                                    <th scope="col">
                                        <span class="hidden-label">Day</span>
                                    </th>
                                    {HOURS.map((hour) => (
                                        <th key={hour} scope="col">
                                            {String(hour).padStart(2, "0")}
                                        </th>
                                    ))}
                                </tr>
                            </thead>
                            <tbody>
                                {days.map((one) => (
                                    <tr key={one.date.getTime()}>
                                        <th scope="row">{asWeekday(one.date)}</th>
                                        {one.hours.map((hour, index) => (
                                            <td
                                                key={index}
                                                data-level={level(hour.runs, most)}
                                                title={hour.runs ? words(hour) : undefined}
                                            >
                                                {hour.runs || ""}
                                            </td>
                                        ))}
                                    </tr>
                                ))}
                            </tbody>
                        </table>
                    </div>
                    {busy.length === 0 ? (
                        <p class="muted">No two schedules begin in the same hour.</p>
                    ) : (
                        <ul aria-label="Where schedules pile up">
                            {busy.map((hour) => (
                                <li key={hour.at.getTime()}>
                                    <b>{asWeekdayClock(hour.at)}</b> <span class="muted">{words(hour)}</span>
                                </li>
                            ))}
                        </ul>
                    )}
                </div>
            )}
        </Card>
    );
}

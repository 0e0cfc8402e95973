import type { Queue } from "../api/types";
import { roundTimes, span, timeline, type TimelineBar } from "../logic/timeline";
import { asClock } from "../logic/moments";
import { duration } from "../logic/quantities";
import { now } from "../store/clock";
import { workload } from "../store/queue";
import { backups } from "../store/resources";

const WIDTH = 1000;
const LINE = 22;
const NAMES = 150;
const WORDS = { done: "done", failed: "failed", running: "running", forecast: "expected" };

/** Past, present and forecast on one axis. For eyes; the same is in the tables as text. */
export function Timeline({ queue }: { queue: Queue }) {
    // A second is less than a pixel here.
    const present = Math.floor(now.value / 5000) * 5000;
    const bars = timeline(backups.all(), queue, workload.value, present);
    if (bars.length === 0) return <div class="empty">Nothing ran in the last hour, and nothing waits.</div>;
    const [from, to] = span(bars, present);
    const x = (time: number): number => NAMES + ((Math.max(time, from) - from) / (to - from)) * (WIDTH - NAMES - 8);
    const height = bars.length * LINE + 26;
    const ticks = roundTimes(from, to);
    const nowInView = (holder: HTMLDivElement | null) => {
        if (holder && holder.scrollLeft === 0)
            holder.scrollLeft = (x(present) / WIDTH) * holder.scrollWidth - holder.clientWidth * 0.7;
    };
    return (
        <div ref={nowInView} class="body table-wrap" tabIndex={0} role="region" aria-label="Timeline">
            <svg
                class="timeline"
                viewBox={`0 0 ${WIDTH} ${height}`}
                role="img"
                aria-label={`Timeline of ${bars.length} backups: the last hour and the forecast`}
            >
                {ticks.map((tick) => (
                    <g key={tick}>
                        <line class="grid-line" x1={x(tick)} x2={x(tick)} y1={0} y2={height - 20} />
                        <text x={x(tick)} y={height - 6} text-anchor="middle">
                            {asClock(tick)}
                        </text>
                    </g>
                ))}
                {bars.map((bar, index) => (
                    <Line key={bar.name} bar={bar} y={index * LINE} x={x} present={present} />
                ))}
                <line class="now" x1={x(present)} x2={x(present)} y1={0} y2={height - 20} />
            </svg>
        </div>
    );
}

type LineProps = { bar: TimelineBar; y: number; x: (time: number) => number; present: number };

function Line({ bar, y, x, present }: LineProps) {
    const short = bar.name.length > 22 ? `${bar.name.slice(0, 21)}…` : bar.name;
    const words = `${bar.name}: ${WORDS[bar.kind]}, ${duration((bar.to - bar.from) / 1000)}`;
    const rect = (from: number, to: number, kind: string) => (
        <rect class={kind} x={x(from)} width={Math.max(2, x(to) - x(from))} y={y + 5} height={LINE - 9} rx={3} />
    );
    return (
        <g>
            <title>{words}</title>
            <text class="name" x={0} y={y + 16}>
                {short}
            </text>
            {bar.kind === "running" && bar.to > present && rect(present, bar.to, "forecast")}
            {rect(bar.from, bar.kind === "running" ? present : bar.to, bar.kind)}
        </g>
    );
}

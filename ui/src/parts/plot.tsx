// A plot over time. uPlot is loaded when the first plot is shown, not before.

import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { asClock } from "../logic/moments";
import { theme } from "./theme";

export type Series = { label: string; values: (number | null)[]; dashed?: boolean };
type Props = {
    label: string;
    times: number[];
    series: Series[];
    format: (value: number) => string;
    /** How much past is shown, in seconds: the axis stays as it is while the line grows into it. */
    span: number;
    /** Whether the values are bytes: their axis then has steps of 1, 2, 5 … of a binary unit. */
    binary?: boolean;
    /** The least that the upper end of the axis stands for, so that nothing is drawn as a mountain. */
    least: number;
};

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** What a custom property means now: canvas knows neither light-dark() nor var(). */
function paint(name: string): string {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found || colour(name);
}

// 1, 2, 5, 10 … 500 of each binary unit: 500 KiB is a round number of bytes, 488 KiB is not.
const BINARY = [1, 1024, 1024 ** 2, 1024 ** 3, 1024 ** 4].flatMap((unit) =>
    [1, 2, 5, 10, 20, 50, 100, 200, 500].map((count) => count * unit),
);
const STROKES = ["--accent", "--warn", "--good"];

function optionsFor({ series, format, span, least, binary }: Props, width: number): uPlot.Options {
    const axis = {
        stroke: paint("--muted"),
        grid: { stroke: paint("--line"), width: 1 },
        ticks: { show: false },
        font: "11px system-ui",
    };
    return {
        width,
        height: 170,
        legend: { show: false },
        cursor: { y: false },
        scales: {
            x: { range: () => [Date.now() / 1000 - span, Date.now() / 1000] },
            y: { range: (_plot, _low, high) => [0, Math.max(least, (high ?? 0) * 1.1)] },
        },
        axes: [
            { ...axis, size: 30, space: 70, values: (_plot, ticks) => ticks.map((tick) => asClock(tick * 1000)) },
            {
                ...axis,
                size: 74,
                values: (_plot, ticks) => ticks.map(format),
                ...(binary ? { incrs: BINARY } : {}),
            },
        ],
        series: [
            {},
            ...series.map((one, index) => ({
                label: one.label,
                stroke: paint(STROKES[index % STROKES.length]!),
                width: 1.5,
                ...(one.dashed
                    ? { dash: [5, 4] }
                    : {
                          fill:
                              index === 0
                                  ? `${paint("--accent").replace("rgb", "rgba").replace(")", ", 0.12)")}`
                                  : undefined,
                      }),
                points: { show: false },
                value: (_plot: uPlot, value: number | null) => (value === null ? "–" : format(value)),
            })),
        ] as uPlot.Series[],
    };
}

export function Plot(props: Props) {
    const holder = useRef<HTMLDivElement>(null);
    const plot = useRef<uPlot | null>(null);
    const data = [props.times, ...props.series.map((one) => one.values)] as uPlot.AlignedData;
    const latest = useRef(data);
    latest.current = data;
    useEffect(() => {
        let gone = false;
        const fit = new ResizeObserver(() =>
            plot.current?.setSize({ width: holder.current!.clientWidth, height: 170 }),
        );
        void import("./uplot").then(({ default: Drawing }) => {
            if (gone || !holder.current) return;
            plot.current = new Drawing(optionsFor(props, holder.current.clientWidth), latest.current, holder.current);
            fit.observe(holder.current);
        });
        return () => {
            gone = true;
            fit.disconnect();
            plot.current?.destroy();
            plot.current = null;
        };
    }, [props.series.length, theme.value]);
    useEffect(() => plot.current?.setData(data));
    return <div class="plot" ref={holder} role="img" aria-label={props.label} />;
}

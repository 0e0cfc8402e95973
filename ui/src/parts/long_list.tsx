// A table of any length: only the rows in view exist. Rows all have one height.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { MARGIN, scrollTopOf, windowOf } from "../logic/tables";

type Props = {
    label: string;
    count: number;
    rowHeight: number;
    head: ComponentChildren;
    row: (index: number) => ComponentChildren;
    /** The row to begin with. */
    first?: number;
    /** The first row in view, told where scrolling rests: browsers allow only so many changes of the address. */
    onScrolled?: (first: number) => void;
    /** Which rows exist now, for whoever must fetch them. */
    onView?: (from: number, to: number) => void;
};

const REST_MS = 300;

export function LongList({ label, count, rowHeight, head, row, first = 0, onScrolled, onView }: Props) {
    const holder = useRef<HTMLDivElement>(null);
    const resting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
    const height = useSignal(900);
    const top = useSignal(scrollTopOf(first, count, rowHeight, height.value));
    useEffect(() => {
        const element = holder.current!;
        element.scrollTop = scrollTopOf(first, count, rowHeight, element.clientHeight);
        const fit = new ResizeObserver(() => (height.value = element.clientHeight));
        fit.observe(element);
        return () => {
            fit.disconnect();
            clearTimeout(resting.current);
        };
    }, []);
    const { from, to, before, after } = windowOf(count, rowHeight, top.value, height.value);
    useEffect(() => onView?.(from, to), [from, to, onView]);
    const onScroll = () => {
        top.value = holder.current!.scrollTop;
        const seen = windowOf(count, rowHeight, top.value, height.value);
        clearTimeout(resting.current);
        resting.current = setTimeout(() => onScrolled?.(seen.from === 0 ? 0 : seen.from + MARGIN), REST_MS);
    };
    return (
        <div class="long" ref={holder} onScroll={onScroll} tabIndex={0} role="region" aria-label={label}>
            <table aria-rowcount={count + 1} aria-label={label}>
                <thead>{head}</thead>
                <tbody>
                    <Gap height={before} />
                    {Array.from({ length: to - from }, (_, index) => row(from + index))}
                    <Gap height={after} />
                </tbody>
            </table>
        </div>
    );
}

// One cell, not one over all columns: on a phone some of these are hidden, and a wider cell would bring them back, empty.
const Gap = ({ height }: { height: number }) =>
    height > 0 ? (
        <tr class="gap" aria-hidden="true">
            <td style={{ height: `${height}px` }} />
        </tr>
    ) : null;

/** In the place of a row that is not here yet. */
export const Coming = ({ index }: { index: number }) => (
    <tr class="coming" aria-rowindex={index + 2}>
        <td class="muted">Row {(index + 1).toLocaleString("en")} is on its way…</td>
    </tr>
);

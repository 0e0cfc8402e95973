// A table of any length: only the rows in view exist. Rows all have one height.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { visible } from "../logic/tables";

type Props<T> = {
    label: string;
    rows: readonly T[];
    rowHeight: number;
    columns: number;
    head: ComponentChildren;
    row: (row: T, index: number) => ComponentChildren;
    /** The row to begin with. */
    first?: number;
    onScrolled?: (first: number) => void;
};

export function LongList<T>({ label, rows, rowHeight, columns, head, row, first = 0, onScrolled }: Props<T>) {
    const holder = useRef<HTMLDivElement>(null);
    const top = useSignal(first * rowHeight);
    const height = useSignal(900);
    useEffect(() => {
        const element = holder.current!;
        element.scrollTop = first * rowHeight;
        const fit = new ResizeObserver(() => (height.value = element.clientHeight));
        fit.observe(element);
        return () => fit.disconnect();
    }, []);
    const onScroll = () => {
        top.value = holder.current!.scrollTop;
        onScrolled?.(Math.floor(top.value / rowHeight));
    };
    const [from, to] = visible(rows.length, rowHeight, top.value, height.value);
    return (
        <div class="long" ref={holder} onScroll={onScroll} tabIndex={0} role="region" aria-label={label}>
            <table aria-rowcount={rows.length + 1} aria-label={label}>
                <thead>{head}</thead>
                <tbody>
                    <Gap height={from * rowHeight} columns={columns} />
                    {rows.slice(from, to).map((one, index) => row(one, from + index))}
                    <Gap height={(rows.length - to) * rowHeight} columns={columns} />
                </tbody>
            </table>
        </div>
    );
}

const Gap = ({ height, columns }: { height: number; columns: number }) =>
    height > 0 ? (
        <tr class="gap" aria-hidden="true">
            <td colSpan={columns} style={{ height: `${height}px` }} />
        </tr>
    ) : null;

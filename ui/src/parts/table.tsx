// A table whose filter, sort and page are in the address.

import type { ComponentChildren } from "preact";
import { matchesFilter, pageOf, readSort, type Sort, sorted, type SortValue, writeSort } from "../logic/tables";
import { plural } from "../logic/quantities";
import { param, setParams } from "../store/place";

export type Column<T> = {
    key: string;
    title: string;
    cell: (row: T) => ComponentChildren;
    sort?: (row: T) => SortValue;
    number?: boolean;
    /** May be left out on a phone. */
    secondary?: boolean;
    class?: string;
};

type Props<T> = {
    label: string;
    rows: readonly T[];
    columns: Column<T>[];
    keyOf: (row: T) => string;
    text: (row: T) => string;
    sort: Sort;
    loaded: boolean;
    empty: ComponentChildren;
    rowProps?: (row: T) => Record<string, string | undefined>;
    noun: string;
};

export function FilterBox({ label, name = "q" }: { label: string; name?: string }) {
    return (
        <input
            type="search"
            class="input search"
            aria-label={label}
            placeholder={label}
            value={param(name)}
            onInput={(event) => setParams({ [name]: event.currentTarget.value, page: null, from: null, marker: null })}
        />
    );
}

export function Header<T>({
    columns,
    sort,
    onSort,
}: {
    columns: Column<T>[];
    sort: Sort;
    onSort: (sort: Sort) => void;
}) {
    return (
        <tr>
            {columns.map((column) => {
                const current = column.key === sort.column;
                const looks = `${column.number ? "number" : ""} ${column.secondary ? "secondary" : ""}`;
                if (!column.sort)
                    return (
                        <th key={column.key} scope="col" class={looks}>
                            {column.title || <span class="hidden-label">Actions</span>}
                        </th>
                    );
                return (
                    <th
                        key={column.key}
                        scope="col"
                        class={looks}
                        aria-sort={current ? (sort.down ? "descending" : "ascending") : undefined}
                    >
                        <button
                            onClick={() =>
                                onSort({ column: column.key, down: current ? !sort.down : Boolean(column.number) })
                            }
                        >
                            {column.title}
                            {current ? (sort.down ? " ↓" : " ↑") : ""}
                        </button>
                    </th>
                );
            })}
        </tr>
    );
}

export function Table<T>(props: Props<T>) {
    const { rows, columns, keyOf } = props;
    const filter = param("q");
    const sort = readSort(param("sort"), props.sort);
    const found = filter ? rows.filter((row) => matchesFilter(props.text(row), filter)) : rows;
    const value = columns.find((column) => column.key === sort.column)?.sort ?? (() => undefined);
    const { rows: shown, page, pages } = pageOf(sorted(found, value, sort.down), Number(param("page")));
    if (rows.length === 0) {
        return props.loaded ? (
            <div class="empty">{props.empty}</div>
        ) : (
            <div class="empty">Loading {props.noun}s from the server…</div>
        );
    }
    if (found.length === 0) {
        return (
            <div class="empty">
                <strong>Nothing matches “{filter}”.</strong>
                <button class="button" onClick={() => setParams({ q: null })}>
                    Show all {plural(rows.length, props.noun)}
                </button>
            </div>
        );
    }
    return (
        <>
            <div class="table-wrap" tabIndex={0} role="region" aria-label={props.label}>
                <table>
                    <thead>
                        <Header
                            columns={columns}
                            sort={sort}
                            onSort={(next) => setParams({ sort: writeSort(next), page: null })}
                        />
                    </thead>
                    <tbody>
                        {shown.map((row) => (
                            <tr key={keyOf(row)} data-row={keyOf(row)} {...props.rowProps?.(row)}>
                                {columns.map((column) => (
                                    <td
                                        key={column.key}
                                        class={`${column.number ? "number" : ""} ${column.secondary ? "secondary" : ""} ${column.class ?? ""}`}
                                    >
                                        {column.cell(row)}
                                    </td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            {pages > 1 && <Pager page={page} pages={pages} total={found.length} noun={props.noun} />}
        </>
    );
}

function Pager({ page, pages, total, noun }: { page: number; pages: number; total: number; noun: string }) {
    return (
        <nav class="pager" aria-label="Pages">
            <span>
                {plural(total, noun)}, page {page} of {pages}
            </span>
            <span class="row">
                <button class="button small" disabled={page <= 1} onClick={() => setParams({ page: String(page - 1) })}>
                    Previous
                </button>
                <button
                    class="button small"
                    disabled={page >= pages}
                    onClick={() => setParams({ page: String(page + 1) })}
                >
                    Next
                </button>
            </span>
        </nav>
    );
}

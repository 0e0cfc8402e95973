import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { WaitingBackup } from "../api/types";
import { commands } from "../logic/commands";
import { chipsOf, sharedChips } from "../logic/globs";
import { plural } from "../logic/quantities";
import { around, type QueuePart, rowAt } from "../logic/queue_part";
import { matchesFilter } from "../logic/tables";
import { type Action, ActionMenu, perform } from "../parts/actions";
import { backupLink, Link } from "../parts/link";
import { Coming, LongList } from "../parts/long_list";
import { FilterBox } from "../parts/table";
import { Ago, Namespaces, Reason } from "../parts/words";
import { param, setParams } from "../store/place";
import { lookAt, lookAtAll, moveBackup } from "../store/queue";
import { backups, targets } from "../store/resources";
import { mayAct } from "../store/session";
import { cancelAction } from "./backup_actions";
import { lit, pointedAt } from "./queue";
import { explainAction } from "./queue_explain";
import { AskedBy } from "./queue_running";

// Two lines: the word for why it waits, and the sentence with who is in its way.
export const ROW_HEIGHT = 50;
const moveAction = (name: string, to: number, label: string): Action => ({
    label,
    command: commands.move(name, to),
    done: `${name} is number ${to} in the queue now.`,
    run: () => moveBackup(name, to),
});

const search = (row: WaitingBackup): string => {
    const backup = backups.get(row.name);
    return `${row.name} ${row.reason} ${row.blockedBy ?? ""} ${backup ? chipsOf(backup.spec).join(" ") : ""}`;
};

export function WaitingLane({ part, total }: { part: QueuePart; total: number }) {
    const dragged = useSignal("");
    const over = useSignal("");
    const filter = param("q");
    useEffect(() => lookAtAll(filter !== ""), [filter]);
    useEffect(() => () => lookAtAll(false), []);
    const found = filter ? part.rows.filter((row) => matchesFilter(search(row), filter)) : null;
    const rows = found ? { first: 0, rows: found } : part;
    if (total === 0)
        return (
            <div class="empty">
                Nobody waits. A new backup starts at once, unless it shares a namespace with one that runs.
            </div>
        );
    const drop = (row: WaitingBackup) => {
        const name = dragged.value;
        dragged.value = over.value = "";
        if (name && name !== row.name) void perform(moveAction(name, row.position, "Move"));
    };
    const drag = (row: WaitingBackup) =>
        mayAct.value
            ? {
                  draggable: true,
                  onDragStart: () => (dragged.value = row.name),
                  onDragEnd: () => (dragged.value = over.value = ""),
                  onDragOver: (event: DragEvent) => {
                      if (!dragged.value) return;
                      event.preventDefault();
                      over.value = row.name;
                  },
                  onDrop: (event: DragEvent) => {
                      event.preventDefault();
                      drop(row);
                  },
              }
            : {};
    return (
        <>
            <div class="row body">
                <FilterBox label="Filter by name, namespace, reason" />
                <span class="muted small">
                    {found && `${found.length.toLocaleString("en")} of ${plural(total, "backup")}`}
                    {found && (part.rows.length < total ? ", the others are being asked for… " : ". ")}
                    {mayAct.value && "Drag a row, or press Alt with ↑ or ↓ on it, to move it."}
                </span>
            </div>
            <LongList
                label="Waiting backups"
                count={found?.length ?? total}
                rowHeight={ROW_HEIGHT}
                first={Number(param("from")) || 0}
                onScrolled={(from) => setParams({ from: from > 0 ? String(from) : null })}
                onView={lookAt}
                head={<Head />}
                row={(index) => {
                    const row = rowAt(rows, index);
                    if (!row) return <Coming key={`at-${index}`} index={index} />;
                    return (
                        <Waiting
                            key={row.name}
                            row={row}
                            index={index}
                            dragging={over.value === row.name}
                            drag={drag(row)}
                            last={total}
                        />
                    );
                }}
            />
        </>
    );
}

const Head = () => (
    <tr>
        <th scope="col" class="number place">
            #
        </th>
        <th scope="col" class="name-column">
            Backup
        </th>
        <th scope="col" class="secondary">
            Namespaces
        </th>
        <th scope="col" class="reason-column">
            Waits because
        </th>
        <th scope="col" class="secondary asked-column">
            Asked by
        </th>
        <th scope="col" class="secondary number since-column">
            Waits since
        </th>
        <th scope="col" class="secondary number start-column">
            Expected
        </th>
        <th scope="col" class="action-column">
            <span class="hidden-label">Actions</span>
        </th>
    </tr>
);

type RowProps = { row: WaitingBackup; index: number; dragging: boolean; drag: object; last: number };

function Waiting({ row, index, dragging, drag, last }: RowProps) {
    const backup = backups.get(row.name);
    const blocker = row.blockedBy ? backups.get(row.blockedBy) : undefined;
    const shared = backup && blocker ? sharedChips(backup.spec, blocker.spec) : undefined;
    const light = () => (pointedAt.value = row.name);
    const onKeyDown = (event: KeyboardEvent) => {
        const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
        if (!event.altKey || !step || !mayAct.value) return;
        event.preventDefault();
        const to = row.position + step;
        if (to >= 1 && to <= last) void perform(moveAction(row.name, to, "Move"));
    };
    return (
        <tr
            data-row={row.name}
            data-reason={row.reason}
            data-position={row.position}
            data-drop={dragging ? "before" : undefined}
            aria-rowindex={index + 2}
            tabIndex={0}
            onKeyDown={onKeyDown}
            onMouseEnter={light}
            onFocusIn={light}
            onMouseLeave={() => (pointedAt.value = "")}
            {...drag}
        >
            <td class="number">{row.position}</td>
            <td>
                <Link class="name" to={backupLink(row.name)} title={row.name}>
                    {row.name}
                </Link>
            </td>
            <td class="secondary">
                {backup && (
                    <Namespaces scope={backup.spec} shared={shared} lit={(chip) => lit.value.has(chip)} most={2} />
                )}
            </td>
            <td class="why" title={row.message}>
                <Reason reason={row.reason} />
                <Why row={row} />
            </td>
            <td class="secondary">
                <AskedBy backup={backup} />
            </td>
            <td class="secondary number">
                <Ago time={row.since} />
            </td>
            <td class="secondary number">
                <Ago time={row.expectedStart} none="unknown" />
            </td>
            <td class="actions">
                <Buttons row={row} last={last} />
            </td>
        </tr>
    );
}

/** The server's sentence; whoever is in the way is a link in it. */
function Why({ row: { reason, message, blockedBy } }: { row: WaitingBackup }) {
    if (!blockedBy) return <span class="muted small">{message}</span>;
    const to =
        targets.get(blockedBy) && !reason.startsWith("NamespaceOverlap")
            ? `/targets?q=${encodeURIComponent(blockedBy)}`
            : backupLink(blockedBy);
    const [before, after] = around(message, blockedBy);
    return (
        <span class="muted small">
            {before.replace(/^backup /, "")}
            <Link to={to}>{blockedBy}</Link>
            {after}
        </span>
    );
}

function Buttons({ row, last }: { row: WaitingBackup; last: number }) {
    const moves = [
        row.position > 1 && moveAction(row.name, 1, "Move to the head"),
        row.position > 1 && moveAction(row.name, row.position - 1, "Move up"),
        row.position < last && moveAction(row.name, row.position + 1, "Move down"),
        row.position < last && moveAction(row.name, last, "Move to the end"),
    ];
    // The backup is looked up by whoever draws: an open menu gets what arrives later, too.
    const all = (): Action[] => {
        const backup = backups.get(row.name);
        return [explainAction(row.name), ...moves, backup && cancelAction(backup)].filter((one): one is Action =>
            Boolean(one),
        );
    };
    return (
        <>
            <button
                class="button small secondary"
                title={commands.explain(row.name)}
                onClick={() => void explainAction(row.name).run()}
            >
                Why?
            </button>
            <ActionMenu of={row.name} actions={all} />
        </>
    );
}

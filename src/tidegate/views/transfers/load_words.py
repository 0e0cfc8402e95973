"""The load as a table of nodes, as a description, and as what a change makes of it."""

from tidegate.model.transfers.load_status import LoadedNode, LoadStatus, RestoreSlots
from tidegate.views.quantities import counted
from tidegate.views.table import Cell, Column, Section, TableView, Tone, section, sections


def _status(node: LoadedNode) -> Cell:
    return Cell("Ready", Tone.GOOD) if node.ready else Cell("NotReady", Tone.BAD)


LOADED_NODES = TableView(
    (LoadedNode,),
    (
        Column("NODE", lambda node, _: node.name),
        Column("STATUS", lambda node, _: _status(node)),
        Column("RUNNING", lambda node, _: str(node.load.running), right=True),
        Column("PREPARING", lambda node, _: str(node.load.preparing), right=True),
        Column("LIMIT", lambda node, _: str(node.load.limit), right=True),
        Column("LIMITED BY", lambda node, _: node.load.limited_by),
        Column("SLOTS", lambda node, _: "" if node.slots is None else str(node.slots), right=True, wide=True),
    ),
)


def describe_load(status: LoadStatus) -> tuple[Section, ...]:
    """What is not about one node: the prepare queue, the restores, and who waits for what."""
    queue, restores = status.prepare_queue, status.restores
    in_use = queue.backups + queue.restores
    share = "" if queue.length is None else f"{counted(queue.restore_share, 'place')} ahead of a node's turn"
    return sections(
        section(
            "Prepare queue",
            [
                ("In use", f"{_of(in_use, queue.length)} ({_directions(queue.backups, queue.restores)})"),
                ("Kept for restores", share),
            ],
        ),
        section("Restores", [("In progress", _restoring(restores)), ("Not begun", _not_begun(restores))]),
        section(
            "Waiting",
            [(f"{one.phase}, {one.reason}", _directions(one.backups, one.restores)) for one in status.waiting],
        ),
    )


def load_changes(before: LoadStatus, after: LoadStatus) -> list[str]:
    """What another configuration means, one line for each limit that it changes."""
    old = {node.name: node for node in before.nodes}
    lines = [
        f"node {node.name}: {_limit(old.get(node.name))} -> {_limit(node)}"
        for node in after.nodes
        if _limit(old.get(node.name)) != _limit(node)
    ]
    for word, was, will in (
        ("prepare queue", before.prepare_queue.length, after.prepare_queue.length),
        ("kept for restores", before.prepare_queue.restore_share, after.prepare_queue.restore_share),
    ):
        if was != will:
            lines.append(f"{word}: {_length(was)} -> {_length(will)}")
    return lines


def _restoring(restores: RestoreSlots) -> str:
    if restores.limit == 0:
        return f"{restores.in_use}; no more begin, because concurrent-backup-restore-limit is 0"
    return _of(restores.in_use, restores.limit)


def _not_begun(restores: RestoreSlots) -> str:
    return f"{counted(restores.queued, 'restore')}; why: tidegate restore get" if restores.queued else ""


def _limit(node: LoadedNode | None) -> str:
    return "unknown" if node is None else f"{node.load.limit} ({node.load.limited_by})"


def _length(number: int | None) -> str:
    return "unconstrained" if number is None else str(number)


def _of(count: int, limit: int | None) -> str:
    return f"{count}, unconstrained" if limit is None else f"{count} of {limit}"


def _directions(backups: int, restores: int) -> str:
    return f"{counted(backups, 'backup')}, {counted(restores, 'restore')}"

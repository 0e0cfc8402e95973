"""The load: one picture of nodes, prepare queue and restores, and how it looks as a table and as words."""

from collections import Counter
from collections.abc import Iterable, Sequence

from tidegate.model.load import LoadConcurrency
from tidegate.model.load_status import LoadedNode, LoadStatus, PrepareQueue, RestoreSlots, WaitingTransfers
from tidegate.model.node import Node, NodeLoad
from tidegate.model.reasons import Reason
from tidegate.model.setting import Settings
from tidegate.model.transfer import Transfer, TransferPhase
from tidegate.views.quantities import counted
from tidegate.views.table import Cell, Column, Section, TableView, Tone, section, sections

_PREPARING = frozenset({TransferPhase.ACCEPTED, TransferPhase.PREPARED})
_WAITING = (TransferPhase.NEW, TransferPhase.PREPARED)


def load_status(
    transfers: Iterable[Transfer], nodes: Iterable[Node], settings: Settings, *, version: str = ""
) -> LoadStatus:
    """The picture, counted from stored phases alone: one look at each transfer, whatever their number."""
    active = [transfer for transfer in transfers if not transfer.status.phase.final]
    load = settings.load_concurrency
    preparing = Counter(t.direction for t in active if t.status.phase in _PREPARING)
    restoring = sum(t.direction == "download" and t.status.phase is not TransferPhase.NEW for t in active)
    return LoadStatus(
        configuration=load,
        version=version,
        nodes=_loaded_nodes(active, nodes, load),
        prepare_queue=PrepareQueue(
            length=load.prepare_limit,
            backups=preparing["upload"],
            restores=preparing["download"],
            restore_share=load.restore_share,
        ),
        restores=RestoreSlots(in_use=restoring, limit=settings.concurrent_restores),
        waiting=_waiting(active),
    )


def _loaded_nodes(
    transfers: Sequence[Transfer], nodes: Iterable[Node], load: LoadConcurrency
) -> tuple[LoadedNode, ...]:
    running = Counter(t.status.node for t in transfers if t.status.phase.moving)
    preparing = Counter(t.status.node for t in transfers if t.status.phase in _PREPARING)
    found = []
    for node in sorted(nodes, key=lambda node: node.name):
        limit = load.limit_for(node.metadata.labels, slots=node.spec.slots)
        carried = NodeLoad(
            running=running[node.name],
            preparing=preparing[node.name],
            limit=limit.number,
            limited_by=limit.given_by,
        )
        found.append(LoadedNode(name=node.name, ready=node.status.ready, slots=node.spec.slots, load=carried))
    return tuple(found)


def _waiting(transfers: Iterable[Transfer]) -> tuple[WaitingTransfers, ...]:
    counts: dict[tuple[TransferPhase, Reason], Counter[str]] = {}
    for transfer in transfers:
        condition = transfer.status.condition("Waiting")
        phase = transfer.status.phase
        if phase is TransferPhase.NEW or (phase is TransferPhase.PREPARED and condition is not None):
            reason = Reason(condition.reason) if condition else Reason.PENDING_EVALUATION
            counts.setdefault((phase, reason), Counter())[transfer.direction] += 1
    return tuple(
        WaitingTransfers(phase=phase, reason=reason, backups=count["upload"], restores=count["download"])
        for (phase, reason), count in sorted(counts.items(), key=lambda one: (_WAITING.index(one[0][0]), one[0][1]))
    )


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
    share = "" if queue.length is None else f"{counted(queue.restore_share, 'place')} while any waits"
    return sections(
        section(
            "Prepare queue",
            [
                ("In use", f"{_of(in_use, queue.length)} ({_directions(queue.backups, queue.restores)})"),
                ("Kept for restores", share),
            ],
        ),
        section("Restores", [("In progress", _restoring(restores))]),
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


def _limit(node: LoadedNode | None) -> str:
    return "unknown" if node is None else f"{node.load.limit} ({node.load.limited_by})"


def _length(number: int | None) -> str:
    return "unconstrained" if number is None else str(number)


def _of(count: int, limit: int | None) -> str:
    return f"{count}, unconstrained" if limit is None else f"{count} of {limit}"


def _directions(backups: int, restores: int) -> str:
    return f"{counted(backups, 'backup')}, {counted(restores, 'restore')}"

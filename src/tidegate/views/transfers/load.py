"""The load: one picture of nodes, prepare queue, restores and whoever waits, for every surface alike."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tidegate.model.reasons import Reason
from tidegate.model.setting import Settings
from tidegate.model.transfers.load import LoadConcurrency
from tidegate.model.transfers.load_status import LoadedNode, LoadStatus, PrepareQueue, RestoreSlots, WaitingTransfers
from tidegate.model.transfers.node import Node, NodeLoad
from tidegate.model.transfers.transfer import TransferPhase

_PREPARING = frozenset({TransferPhase.ACCEPTED, TransferPhase.PREPARED})
_WAITING = (TransferPhase.NEW, TransferPhase.PREPARED)


class LoadRow(NamedTuple):
    """A transfer that is not over, as far as the load is concerned: little, for there may be very many."""

    phase: TransferPhase
    restore: bool
    node: str | None = None
    reason: str = ""
    """Why it waits, as far as anyone was told."""


def load_status(
    rows: Iterable[LoadRow],
    nodes: Iterable[Node],
    settings: Settings,
    *,
    version: str = "",
    restores_queued: int = 0,
) -> LoadStatus:
    """The picture, counted from stored phases alone: one look at each transfer, whatever their number."""
    active = [row for row in rows if not row.phase.final]
    load = settings.load_concurrency
    preparing = Counter(row.restore for row in active if row.phase in _PREPARING)
    restoring = sum(row.restore and row.phase is not TransferPhase.NEW for row in active)
    return LoadStatus(
        configuration=load,
        version=version,
        nodes=_loaded_nodes(active, nodes, load),
        prepare_queue=PrepareQueue(
            length=load.prepare_limit,
            backups=preparing[False],
            restores=preparing[True],
            restore_share=load.restore_share,
        ),
        restores=RestoreSlots(in_use=restoring, limit=settings.concurrent_restores, queued=restores_queued),
        waiting=_waiting(active),
    )


def _loaded_nodes(rows: Sequence[LoadRow], nodes: Iterable[Node], load: LoadConcurrency) -> tuple[LoadedNode, ...]:
    running = Counter(row.node for row in rows if row.phase.moving)
    preparing = Counter(row.node for row in rows if row.phase in _PREPARING)
    found = []
    for node in sorted(nodes, key=lambda node: node.name):
        limit = load.limit_for(node.metadata.labels, slots=node.spec.slots)
        carried = NodeLoad(
            running=running[node.name],
            preparing=preparing[node.name],
            limit=limit.total,
            limited_by=limit.given_by,
        )
        found.append(LoadedNode(name=node.name, ready=node.status.ready, slots=node.spec.slots, load=carried))
    return tuple(found)


def _waiting(rows: Iterable[LoadRow]) -> tuple[WaitingTransfers, ...]:
    """One that is Prepared and was told no reason waits for nothing: it is about to move."""
    counts = Counter(
        (_WAITING.index(row.phase), row.reason or Reason.PENDING_EVALUATION, row.restore)
        for row in rows
        if row.phase is TransferPhase.NEW or (row.phase is TransferPhase.PREPARED and row.reason)
    )
    kinds = sorted({(phase, reason) for phase, reason, _ in counts})
    return tuple(
        WaitingTransfers(
            phase=_WAITING[phase],
            reason=Reason(reason),
            backups=counts[phase, reason, False],
            restores=counts[phase, reason, True],
        )
        for phase, reason in kinds
    )

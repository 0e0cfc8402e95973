"""Which transfers may go through their gates now: restore limit, prepare queue, node load, one upload per volume.

One pass over all transfers that are not final, oldest request first, so check and take are one step and a burst can
never exceed a limit (longhorn#4558). A waiting transfer gets the reason of the first gate that stops it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tidegate.decide.node_load import node_limit
from tidegate.decide.prepare_queue import prepare_slots
from tidegate.decide.restore_limit import restore_slots
from tidegate.model.reasons import Reason
from tidegate.model.resource import Ref
from tidegate.model.setting import Settings
from tidegate.model.transfer import Transfer, TransferPhase

_PREPARING = frozenset({TransferPhase.ACCEPTED, TransferPhase.PREPARED})


@dataclass(frozen=True)
class Held:
    """A transfer that a gate stops, and why."""

    ref: Ref
    reason: Reason
    message: str


@dataclass
class TransferPlan:
    """Who may be prepared, who may move, who waits."""

    accept: list[Ref] = field(default_factory=list)
    start: list[Ref] = field(default_factory=list)
    wait: list[Held] = field(default_factory=list)


def plan_transfers(
    transfers: Sequence[Transfer],
    settings: Settings,
    *,
    node_labels: Mapping[str, Mapping[str, str]],
    unavailable_targets: frozenset[str] = frozenset(),
) -> TransferPlan:
    """Plan New -> Accepted and Prepared -> InProgress for all of them at once."""
    plan = TransferPlan()
    by_age = sorted(transfers, key=_age)
    _plan_moving(by_age, settings, node_labels, plan)
    _plan_preparing(by_age, settings, unavailable_targets, plan)
    return plan


def _plan_moving(
    transfers: Sequence[Transfer], settings: Settings, labels: Mapping[str, Mapping[str, str]], plan: TransferPlan
) -> None:
    moving = Counter(t.status.node for t in transfers if t.status.phase.moving)
    # A last guard, whatever let two backups of one volume run: both would read it, and write the same volume backups.
    uploading = {_volume(t): t for t in transfers if t.status.phase.moving and t.direction == "upload"}
    for transfer in _in_phase(transfers, TransferPhase.PREPARED):
        node = transfer.status.node or ""
        limit = node_limit(labels.get(node, {}), settings.load_concurrency)
        same_volume = uploading.get(_volume(transfer)) if transfer.direction == "upload" else None
        if same_volume is not None:
            message = f"{same_volume.ref} is moving the same volume, {'/'.join(_volume(transfer))}"
            plan.wait.append(Held(transfer.ref, Reason.DEPENDENCY, message))
        elif moving[node] < limit:
            if transfer.direction == "upload":
                uploading[_volume(transfer)] = transfer
            moving[node] += 1
            plan.start.append(transfer.ref)
        else:
            message = f"node {node} moves {moving[node]} of {limit} transfers (load-concurrency)"
            plan.wait.append(Held(transfer.ref, Reason.NODE_LOAD, message))


def _plan_preparing(
    transfers: Sequence[Transfer], settings: Settings, unavailable: frozenset[str], plan: TransferPlan
) -> None:
    restoring = sum(
        1 for t in transfers if t.direction == "download" and (t.status.phase in _PREPARING or t.status.phase.moving)
    )
    restores = restore_slots(restoring=restoring, limit=settings.concurrent_restores)
    free_restores = restores.free
    length = settings.load_concurrency.prepare_queue_length
    preparing = sum(1 for t in transfers if t.status.phase in _PREPARING)
    free = prepare_slots(preparing=preparing, length=length)
    for transfer in _in_phase(transfers, TransferPhase.NEW):
        is_restore = transfer.direction == "download"
        if transfer.spec.target in unavailable:
            message = f"target {transfer.spec.target} does not answer"
            plan.wait.append(Held(transfer.ref, Reason.TARGET_UNAVAILABLE, message))
        elif is_restore and free_restores == 0:
            plan.wait.append(Held(transfer.ref, restores.reason, restores.message))
        elif free == 0:
            message = f"{length} of {length} transfers are being prepared (prepareQueueLength)"
            plan.wait.append(Held(transfer.ref, Reason.PREPARE_QUEUE_FULL, message))
        else:
            plan.accept.append(transfer.ref)
            free_restores -= is_restore
            free = None if free is None else free - 1


def _in_phase(transfers: Iterable[Transfer], phase: TransferPhase) -> list[Transfer]:
    """Those that a gate may let go on: one that shall be cancelled or is being deleted takes no slot any more."""
    return [t for t in transfers if t.status.phase is phase and not t.spec.cancel and not t.deleting]


def _volume(transfer: Transfer) -> tuple[str, str]:
    return transfer.spec.volume_namespace, transfer.spec.volume_name


def _age(transfer: Transfer) -> tuple[str, str]:
    created = transfer.metadata.creation_timestamp
    return (created.isoformat() if created else "", transfer.name)

"""What becomes of the deletions of one volume: which go now, together, and why the others do not.

Pure. All of one volume are judged at once and carried out by one worker, so that garbage is collected once for many.

Who depends on a volume backup? Backups share blocks, but the record of each one names all that it needs, and a block
goes only when no record names it. So no finished backup depends on another, older or newer. Only work under way does: a
restore reads one backup, and an upload may build on what is there, which the volume's lock keeps until it is done.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from tidegate.decide.stores.target_away import away
from tidegate.errors import Refused
from tidegate.model.backoff import Doubling
from tidegate.model.reasons import Reason
from tidegate.model.stores.deletion import Deletion, DeletionPhase
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.transfer import Transfer, TransferPhase

_RETRIES = Doubling(timedelta(seconds=5), timedelta(minutes=30))
# How long people can still ask what became of one.
KEPT_FOR = timedelta(days=1)
_NOT_WRITTEN = frozenset({TransferPhase.FAILED, TransferPhase.CANCELED})


class Obstacle(NamedTuple):
    """Why one must wait."""

    reason: Reason
    message: str


@dataclass(frozen=True, kw_only=True)
class VolumeLook:
    """What is around the deletions of one volume."""

    target: BackupTarget | None
    transfers: Sequence[Transfer] = ()
    """All that read or write this volume of the store, also those that are over."""
    at_work: bool = False
    """A worker removes something of this volume now."""
    slot_free: bool = True
    now: datetime


@dataclass
class DeletionPlan:
    """By the names of deletions. Nobody is in two of them."""

    cancel: list[str] = field(default_factory=list)
    refuse: dict[str, str] = field(default_factory=dict)
    wait: dict[str, Obstacle] = field(default_factory=dict)
    run: list[str] = field(default_factory=list)
    again_at: datetime | None = None
    wants_slot: bool = False
    """Something could go, if fewer workers ran."""


def plan_deletions(deletions: Iterable[Deletion], look: VolumeLook) -> DeletionPlan:
    """Judge all deletions of one volume that are not over."""
    plan = DeletionPlan()
    ready: list[Deletion] = []
    for deletion in deletions:
        if look.at_work and deletion.status.phase is DeletionPhase.RUNNING:
            continue
        if deletion.spec.cancel:
            plan.cancel.append(deletion.name)
        elif why := _refusal(deletion, look):
            plan.refuse[deletion.name] = why
        elif obstacle := _obstacle(deletion, look):
            plan.wait[deletion.name] = obstacle
        else:
            ready.append(deletion)
    _let_go(ready, look, plan)
    return plan


def _let_go(ready: Sequence[Deletion], look: VolumeLook, plan: DeletionPlan) -> None:
    """All or none: they share the worker and its back-off."""
    pause = max((d.not_before for d in ready if d.not_before), default=None)
    if ready and pause is not None and look.now < pause:
        plan.again_at = pause
        failed = next(d for d in ready if d.not_before == pause)
        message = f"deletion {failed.name} of the same volume is tried again first: {failed.status.message}"
        plan.wait.update((d.name, Obstacle(Reason.DEPENDENCY, message)) for d in ready if d.status.retry_at is None)
    elif ready and not look.slot_free:
        plan.wants_slot = True
        obstacle = Obstacle(Reason.CONCURRENCY_LIMIT, "as many deletions as may run at once are at work")
        plan.wait.update((d.name, obstacle) for d in ready)
    else:
        plan.run.extend(d.name for d in ready)


def _refusal(deletion: Deletion, look: VolumeLook) -> str:
    """Why it can never be done as it was asked for; empty if it can."""
    if look.target is None:
        return f"target {deletion.spec.target} is no longer known; what its store holds was left alone"
    if look.target.spec.url != deletion.spec.url:
        return f"target {deletion.spec.target} points to another store by now; nothing was deleted there"
    if deletion.whole_volume and (later := _later_upload(deletion, look.transfers)):
        return (
            f"a backup of volume {deletion.spec.volume} was begun after its deletion was asked for ({later.ref}); "
            "ask again if that shall go too"
        )
    return ""


def _later_upload(deletion: Deletion, transfers: Iterable[Transfer]) -> Transfer | None:
    """What nobody knew of who asked for everything to go must not go with it."""
    asked = deletion.metadata.creation_timestamp
    for transfer in transfers:
        made = transfer.metadata.creation_timestamp
        written = transfer.direction == "upload" and transfer.status.phase not in _NOT_WRITTEN
        if written and not transfer.deleting and asked is not None and made is not None and made > asked:
            return transfer
    return None


def _obstacle(deletion: Deletion, look: VolumeLook) -> Obstacle | None:
    """What must end first."""
    reader = first_reader(deletion.spec.backups, look.transfers)
    if reader is not None:
        return Obstacle(Reason.DEPENDENCY, f"{_owner(reader)} reads it; it is deleted when that has ended")
    upload = next((t for t in look.transfers if t.direction == "upload" and _has_lock(t)), None)
    if upload is not None:
        return Obstacle(Reason.DEPENDENCY, f"{_owner(upload)} writes to the same volume and may build on it")
    if look.at_work:
        return Obstacle(Reason.DEPENDENCY, "another deletion of the same volume is at work")
    gone = away(look.target) if look.target is not None else None
    return Obstacle(*gone) if gone else None


def _has_lock(upload: Transfer) -> bool:
    """Who reads a snapshot has locked its volume since that was taken."""
    phase = upload.status.phase
    return phase.moving or (phase is TransferPhase.PREPARED and upload.status.from_snapshot)


def first_reader(backups: Sequence[str], transfers: Iterable[Transfer]) -> Transfer | None:
    """A download, not over, of one of these; of anything in the volume if none is named."""
    for transfer in transfers:
        wanted = not backups or transfer.spec.store_backup in backups
        if wanted and transfer.direction == "download" and not transfer.status.phase.final:
            return transfer
    return None


def why_not_ask(backups: Sequence[str], transfers: Iterable[Transfer]) -> str:
    """Why nobody may ask for these now, in one sentence; empty if they may."""
    held = list(transfers)
    reader = first_reader(backups, held)
    if reader is not None:
        return f"{_owner(reader)} reads {reader.spec.store_backup} of volume {reader.spec.store_volume}"
    for transfer in held:
        wanted = not backups or transfer.spec.store_backup in backups
        if wanted and transfer.direction == "upload" and not transfer.status.phase.final:
            return (
                f"{_owner(transfer)} still writes {transfer.spec.store_backup} of volume {transfer.spec.store_volume}"
            )
    return ""


def retried_now(asked: Deletion, of_volume: Iterable[Deletion]) -> tuple[Deletion, ...]:
    """Return what waits for its next try, no longer waiting; raise Refused if `asked` does not wait for one.

    All of the volume go together: they share the worker and its pause, so one that still waited would hold up the rest.
    """
    if asked.status.phase is not DeletionPhase.RETRYING:
        raise Refused(f"deletion {asked.name} is {asked.status.phase}; only one that is Retrying can be tried at once")
    waiting = [one for one in of_volume if one.status.phase is DeletionPhase.RETRYING]
    return tuple(one.with_spec(retry_now_after=one.status.attempts) for one in waiting)


def retry_delay(attempts: int) -> timedelta:
    """Doubles with each failure in a row, up to half an hour."""
    return _RETRIES.after(attempts)


def wanted_gone(deletions: Iterable[Deletion]) -> Mapping[tuple[str, str], frozenset[str]]:
    """By target and volume, the backups that must be in no list; an empty name stands for the whole volume."""
    found: dict[tuple[str, str], set[str]] = {}
    for deletion in deletions:
        if deletion.hides:
            place = (deletion.spec.target, deletion.spec.volume)
            found.setdefault(place, set()).update(deletion.spec.backups or [""])
    return {place: frozenset(names) for place, names in found.items()}


def _owner(transfer: Transfer) -> str:
    owner = next(iter(transfer.metadata.owner_references), None)
    return f"{owner.kind.lower()} {owner.name}" if owner else str(transfer.ref)

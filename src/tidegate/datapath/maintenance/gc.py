"""Removing blocks that no backup names: what an upload left that died, whole or half, or a deletion cut short."""

from dataclasses import dataclass
from typing import Protocol

from tidegate.datapath.leftovers import clear_leftovers, unfinished_blocks
from tidegate.datapath.maintenance.remove import Removal
from tidegate.datapath.progress import Progress
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.model.transfers.mover_job import RemoveJob, TargetAccess


@dataclass(frozen=True)
class Collected:
    """What went away, or would: nothing at all if a warning says why nothing may."""

    volume: str
    blocks: int
    bytes: int
    warnings: tuple[str, ...]
    begun: tuple[str, ...] = ()
    """Backups that we began and that stop it: they go as well, if the lock proves that their writers are dead."""


class Held(Protocol):
    """The volume's lock, held."""

    def check(self) -> None:
        """Raise if the work must stop: cancelled, or the lock may be lost."""
        ...

    def confirm(self) -> None:
        """The same, and ask the store itself."""
        ...


def collect_garbage(volume: StoredVolume, *, progress: Progress, lock: Held | None = None) -> Collected:
    """Remove what no cfg names, under the guards of every removal. Without the lock it only looks."""
    job = RemoveJob(target=TargetAccess(url=""), store_volume=volume.name, store_backups=())
    check, confirm = (lock.check, lock.confirm) if lock else (_look_only, _look_only)
    removal = Removal(job, volume, progress, check, confirm)
    warnings: list[str] = []
    unneeded = removal.unneeded(warnings)
    begun = removal.begun() if warnings else frozenset()
    if lock and (unneeded or begun):
        before = dict(volume.block_sizes())
        warnings = list(removal.run().warnings)
        left = dict(volume.block_sizes())
        unneeded = {name: size for name, size in before.items() if name not in left}
    halves = unfinished_blocks(volume.objects, volume.name) if not warnings else {}
    if halves and lock:
        lock.confirm()
        gone = clear_leftovers(volume.objects, volume.name)
        halves = {key: size for key, size in halves.items() if key in gone}
    unneeded |= halves
    return Collected(volume.name, len(unneeded), sum(unneeded.values()), tuple(warnings), tuple(sorted(begun)))


def _look_only() -> None:
    """A look changes nothing, so nothing can stop it."""

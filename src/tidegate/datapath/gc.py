"""Removing blocks that no backup names: what an upload left that died, or a deletion that was cut short."""

from collections.abc import Callable
from dataclasses import dataclass

from tidegate.datapath.progress import Progress
from tidegate.datapath.remove import Removal
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.model.mover_job import RemoveJob, TargetAccess


@dataclass(frozen=True)
class Collected:
    """What went away, or would: nothing at all if a warning says why nothing may."""

    volume: str
    blocks: int
    bytes: int
    warnings: tuple[str, ...]


def collect_garbage(
    volume: StoredVolume, *, progress: Progress, checkpoint: Callable[[], None], dry_run: bool
) -> Collected:
    """Remove what no cfg names, under the guards of every removal. Needs the lock unless it is a dry run."""
    job = RemoveJob(target=TargetAccess(url=""), store_volume=volume.name, store_backups=())
    removal = Removal(job, volume, progress, checkpoint)
    warnings: list[str] = []
    unneeded = removal.unneeded(warnings)
    if unneeded and not dry_run:
        warnings = list(removal.run().warnings)
        left = removal.unneeded([])
        unneeded = {name: size for name, size in unneeded.items() if name not in left}
    return Collected(volume.name, len(unneeded), sum(unneeded.values()), tuple(warnings))

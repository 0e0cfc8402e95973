"""Removing all that a store holds of one volume, understood or not: also without a volume.cfg, also with strange files.

The records of backups go first. So whoever looks in between, or comes after a crash, sees fewer backups and never one
that lacks blocks. Every key that is deleted came from a listing and lies below the volume's own directory.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tidegate.datapath.crew import work_through
from tidegate.datapath.leftovers import expired_locks
from tidegate.datapath.progress import Progress
from tidegate.errors import StoreUnavailable
from tidegate.format.cfgs.paths import backups_dir, lock_name_of, locks_dir, volume_cfg_key, volume_dir
from tidegate.model.transfers.transfer_progress import TransferResult
from tidegate.ports.object_store import KeepsUnfinished, ObjectInfo, ObjectStore


@dataclass(frozen=True)
class VolumeRemoval:
    """One removal. `checkpoint` and `still_locked` raise when the work must stop, as for a Removal."""

    objects: ObjectStore
    volume: str
    progress: Progress
    checkpoint: Callable[[], None]
    still_locked: Callable[[], None]

    def nothing_there(self) -> bool:
        """Whether the store has no object of the volume; half objects and empty directories are no objects."""
        return next(iter(self.objects.list_all(volume_dir(self.volume))), None) is None

    def run(self) -> TransferResult:
        """Needs the lock; it remains as the last thing. Repeating it after any error is harmless."""
        self.progress.enter("removing")
        self.still_locked()
        self._delete(info.key for info in self.objects.list_level(backups_dir(self.volume)).objects)
        self._delete([volume_cfg_key(self.volume)])
        self.still_locked()
        locks = f"{locks_dir(self.volume)}/"
        self._delete(info.key for info in self._all() if not info.key.startswith(locks))
        self._delete(self._unfinished())
        self._delete(expired_locks(self.objects, self.volume))
        return TransferResult(warnings=self._others())

    def clear_directories(self) -> None:
        """In a store of files: what is empty by now, once the lock is gone too."""
        if isinstance(self.objects, KeepsUnfinished):
            self.objects.remove_empty(volume_dir(self.volume))

    def _unfinished(self) -> list[str]:
        """Halves of objects, which nobody can finish while we have the lock."""
        return self.objects.unfinished(volume_dir(self.volume)) if isinstance(self.objects, KeepsUnfinished) else []

    def _all(self) -> Iterable[ObjectInfo]:
        return self.objects.list_all(volume_dir(self.volume))

    def _delete(self, keys: Iterable[str]) -> None:
        """Many at a time: a store far away answers each in its own time."""
        work_through(keys, self._delete_one, threads=self.objects.requests_in_flight)

    def _delete_one(self, key: str) -> None:
        if not key.startswith(f"{volume_dir(self.volume)}/"):
            raise StoreUnavailable(f"the store lists {key[:200]!r} below the directory of volume {self.volume}")
        self.checkpoint()
        self.objects.delete(key)

    def _others(self) -> tuple[str, ...]:
        locks = self.objects.list_level(locks_dir(self.volume)).objects
        if sum(lock_name_of(info.key) is not None for info in locks) > 1:
            return (f"other clients work on volume {self.volume}; their locks were left",)
        return ()

"""Removing backups of one volume, and then the blocks that no backup needs any more.

A block is deleted only under the volume's lock and only if every remaining cfg was read and none names it. A look
that failed, or that contradicts something else the store says, deletes nothing: Longhorn lost all blocks of a volume
by taking a failed listing for an empty one.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tidegate.datapath.crew import work_ahead, work_through
from tidegate.datapath.leftovers import clear_beginnings
from tidegate.datapath.progress import Progress
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedMetadata, NotFound, StoreUnavailable
from tidegate.format.blocks.checksum_set import ChecksumSet
from tidegate.format.cfgs.backup_cfg import BackupCfg
from tidegate.format.cfgs.times import parse_time
from tidegate.format.cfgs.volume_cfg import VolumeCfg
from tidegate.model.transfers.mover_job import RemoveJob
from tidegate.model.transfers.transfer_progress import TransferResult

_SMALL_CFG = 256 * 1024
_READ_AHEAD = 32


@dataclass
class Remains:
    """What is left after the removal: who needs which blocks, and whether all of them could be asked."""

    names: frozenset[str]
    needed: ChecksumSet = field(default_factory=ChecksumSet)
    newest: BackupCfg | None = None
    complete: bool = True
    begun: set[str] = field(default_factory=set)
    """Backups in progress that we began: their writers may be dead."""


@dataclass(frozen=True)
class Removal:
    """One removal. `checkpoint` raises when the work must stop: cancelled, or the lock is lost.

    `still_locked` asks the store itself whether we hold the lock, before blocks are deleted.
    """

    job: RemoveJob
    volume: StoredVolume
    progress: Progress
    checkpoint: Callable[[], None]
    still_locked: Callable[[], None]

    def nothing_there(self) -> bool:
        """Whether the store holds nothing at all of this volume, not even something half removed."""
        return not self.volume.is_there()

    def run(self) -> TransferResult:
        """Remove what the job names. Needs the lock. Repeating it after any error is harmless."""
        self.progress.enter("removing")
        warnings: list[str] = []
        before = self.volume.backup_names()
        removed = self._remove_cfgs(before)
        remains = self._look_at_remains(before - removed, warnings)
        if cleared := self._clear_beginnings(remains):
            warnings.clear()
            remains = self._look_at_remains(remains.names - cleared, warnings)
        volume_cfg = self._volume_cfg(warnings)
        if volume_cfg is not None:
            volume_cfg = self._repair_last_backup(volume_cfg, remains)
        if remains.complete and (removed or self._proven(remains, volume_cfg)):
            kept = self._delete_unneeded(remains)
            if volume_cfg is not None and volume_cfg.block_count != kept:
                self.volume.save_volume_cfg(replace(volume_cfg, block_count=kept))
        return TransferResult(warnings=tuple(warnings))

    def begun(self) -> frozenset[str]:
        """Backups in progress that we began."""
        return frozenset(self._look_at_remains(self.volume.backup_names(), []).begun)

    def unneeded(self, warnings: list[str]) -> dict[str, int]:
        """Blocks, with their stored bytes, that nobody needs as things are; none where a warning says why."""
        remains = self._look_at_remains(self.volume.backup_names(), warnings)
        if not remains.complete:
            return {}
        if not self._proven(remains, self._volume_cfg(warnings)):
            warnings.append("no blocks were deleted, because nothing proves that the volume has no backups")
            return {}
        return {name: size for name, size in self.volume.block_sizes() if name not in remains.needed}

    def _clear_beginnings(self, remains: Remains) -> frozenset[str]:
        if not remains.begun:
            return frozenset()
        self.checkpoint()
        self.still_locked()
        return clear_beginnings(self.volume, sorted(remains.begun))

    def _remove_cfgs(self, listed: frozenset[str]) -> frozenset[str]:
        removed: set[str] = set()

        def remove(name: str) -> None:
            if self._remove_cfg(name, is_listed=name in listed):
                removed.add(name)

        threads = min(_READ_AHEAD, self.volume.objects.requests_in_flight)
        work_through(self.job.store_backups, remove, threads=min(threads, max(1, len(self.job.store_backups))))
        return frozenset(removed)

    def _remove_cfg(self, name: str, *, is_listed: bool) -> bool:
        try:
            unfinished = self.volume.backup_cfg(name).in_progress
        except NotFound:
            return False
        except DamagedMetadata:
            unfinished = False
        if not is_listed:
            raise self._unlisted(name)
        if self.job.only_unfinished and not unfinished:
            return False
        self.checkpoint()
        self.volume.delete_backup_cfg(name)
        return True

    def _look_at_remains(self, expected: frozenset[str], warnings: list[str]) -> Remains:
        sizes = self.volume.cfg_sizes()
        remains = Remains(frozenset(sizes))
        if remains.names != expected:
            raise StoreUnavailable(f"the backups of volume {self.volume.name} changed while they were looked at")
        # Small ones are read ahead, or a thousand of them in a store far away would take a quarter of an hour.
        small = sorted(name for name, size in sizes.items() if size <= _SMALL_CFG)
        threads = min(_READ_AHEAD, self.volume.objects.requests_in_flight)
        with contextlib.closing(work_ahead(small, self._read, threads=threads)) as found:
            for name, cfg in found:
                self._note(name, cfg, remains, warnings)
        for name in sorted(sizes.keys() - set(small)):
            self._note(name, self._read(name), remains, warnings)
        return remains

    def _read(self, name: str) -> BackupCfg | DamagedMetadata:
        self.checkpoint()
        try:
            return self.volume.backup_cfg(name)
        except DamagedMetadata as error:
            return error

    @staticmethod
    def _note(name: str, cfg: BackupCfg | DamagedMetadata, remains: Remains, warnings: list[str]) -> None:
        """What is needed of a cfg; when the next one is noted, this one is forgotten."""
        if isinstance(cfg, DamagedMetadata):
            remains.complete = False
            warnings.append(f"no blocks were deleted, because {cfg}")
            return
        if cfg.in_progress:
            remains.complete = False
            if cfg.begun_by_us:
                remains.begun.add(name)
            warnings.append(f"no blocks were deleted, because backup {name} is still in progress")
            return
        for block in cfg.blocks:
            remains.needed.add(block.checksum)
        if remains.newest is None or _age(cfg) > _age(remains.newest):
            remains.newest = replace(cfg, blocks=())

    def _volume_cfg(self, warnings: list[str]) -> VolumeCfg | None:
        try:
            return self.volume.volume_cfg()
        except NotFound:
            return None
        except DamagedMetadata as error:
            warnings.append(f"{error}; it was left as it is")
            return None

    def _repair_last_backup(self, cfg: VolumeCfg, remains: Remains) -> VolumeCfg:
        if cfg.last_backup_name in remains.names or (not cfg.last_backup_name and remains.newest is None):
            return cfg
        self._check_absent(cfg.last_backup_name)
        newest = remains.newest
        repaired = replace(
            cfg,
            last_backup_name=newest.name if newest else "",
            last_backup_at=newest.snapshot_created_at if newest else "",
        )
        self.checkpoint()
        self.volume.save_volume_cfg(repaired)
        return repaired

    def _check_absent(self, name: str) -> None:
        """A listing may have lied about the backup that the volume points to; ask for it by name."""
        try:
            if name:
                self.volume.backup_cfg(name)
        except NotFound:
            return
        except DamagedMetadata:  # there, whatever is in it
            pass
        if name:
            raise self._unlisted(name)

    def _unlisted(self, name: str) -> StoreUnavailable:
        return StoreUnavailable(f"the store has backup {name} of volume {self.volume.name} but does not list it")

    def _proven(self, remains: Remains, volume_cfg: VolumeCfg | None) -> bool:
        """Whether a look that removed nothing may be trusted: it shows backups, or the volume itself says none."""
        return bool(remains.names) or (volume_cfg is not None and not volume_cfg.last_backup_name)

    def _delete_unneeded(self, remains: Remains) -> int:
        """How many needed blocks there are, once the others are gone."""
        kept, unneeded = 0, []
        for name, _ in self.volume.block_sizes():
            if name in remains.needed:
                kept += 1
            else:
                unneeded.append(name)
        if self.volume.backup_names() != remains.names:
            raise StoreUnavailable(f"the backups of volume {self.volume.name} changed while they were looked at")
        if unneeded:
            self.still_locked()
        # Each is checked by itself, right before it is sent: who was frozen longer than its lock lives may still send
        # what it was about to send, which is at most one for each thread, and nothing after that.
        work_through(sorted(unneeded), self._delete_block, threads=self.volume.objects.requests_in_flight)
        return kept

    def _delete_block(self, name: str) -> None:
        self.checkpoint()
        self.volume.delete_block(name)


def _age(cfg: BackupCfg) -> float:
    moment = parse_time(cfg.snapshot_created_at)
    return moment.timestamp() if moment else float("-inf")

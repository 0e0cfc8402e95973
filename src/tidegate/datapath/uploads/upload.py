"""Backing one volume up.

The order of writes keeps the store consistent whenever it stops: volume.cfg as large as it must be, the in-progress
cfg, the blocks, a flush that makes them durable, the final cfg (from here on the backup exists), then volume.cfg
points to it.
"""

import contextlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from tidegate.datapath.progress import READING, Progress
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.datapath.uploads.index_keeping import keep_index
from tidegate.datapath.uploads.last_backup import is_news, later_rival
from tidegate.datapath.uploads.moved_blocks import Destination, MovedBlocks
from tidegate.decide.transfers.mover_memory import UploadHands, upload_hands
from tidegate.errors import DamagedMetadata, NoSpace, NotFound, StoreUnavailable
from tidegate.format.blocks.block_map import BlockMap
from tidegate.format.blocks.checksum_set import ChecksumSet
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE, MIB, OUR_MARK, BackupCfg, BlockRef, block_parameters
from tidegate.format.cfgs.backup_url import BackupUrl
from tidegate.format.cfgs.times import format_time
from tidegate.format.cfgs.volume_cfg import VolumeCfg
from tidegate.format.trees.packed_tree import align_up, shown_size
from tidegate.model.transfers.mover_job import BackupMode, UploadJob
from tidegate.model.transfers.transfer_progress import TransferResult
from tidegate.ports.clock import Clock
from tidegate.ports.kept_maps import KeptMap, KeptMaps
from tidegate.ports.volume_data import VolumeSource


@dataclass(frozen=True)
class Upload:
    """One upload. `checkpoint` raises when the work must stop: cancelled, or the lock is lost.

    `still_locked` asks the store itself whether we hold the lock, and raises StoreLocked if not: for the moments after
    which nothing can be taken back.
    """

    job: UploadJob
    volume: StoredVolume
    clock: Clock
    progress: Progress
    checkpoint: Callable[[], None]
    still_locked: Callable[[], None]
    kept_maps: KeptMaps | None = None

    def finished(self) -> BackupCfg | None:
        """The backup, if it is in the store already: asking twice for the same one is harmless.

        Raises DamagedMetadata if its cfg cannot be understood: it may be whole, and this reading of it not.
        """
        try:
            cfg = self.volume.backup_cfg(self.job.store_backup)
        except NotFound:
            return None
        return None if cfg.in_progress else cfg

    def settled(self, cfg: BackupCfg) -> bool:
        """Whether volume.cfg knows of this finished backup or of a later one."""
        try:
            volume_cfg = self.volume.volume_cfg()
        except NotFound:
            return False
        return not is_news(cfg, volume_cfg)

    def settle(self, cfg: BackupCfg, *, new_blocks: int = 0) -> None:
        """Let volume.cfg point to a finished backup. Needs the lock; repeating it changes nothing.

        Others may back the same volume up at the same time: they hold locks of the same kind. Whoever wrote last looks
        whether a later backup than its own was finished, so the pointer never stays behind.
        """
        rivals = self.volume.lock_count() > 1
        volume_cfg = self._volume_cfg(cfg.true_size or 0, cfg.block_size)
        changed = replace(volume_cfg, block_count=volume_cfg.block_count + new_blocks)
        if is_news(cfg, volume_cfg):
            changed = replace(
                changed, last_backup_name=cfg.name, last_backup_at=cfg.snapshot_created_at, labels=cfg.labels
            )
        if changed != volume_cfg:
            self.volume.save_volume_cfg(changed)
            if rivals and (later := later_rival(self.volume, cfg.name, changed)):
                self.settle(later)

    def footing(self) -> "Footing":
        """What this backup can build on, as far as the store tells now."""
        try:
            last = self.volume.volume_cfg()
        except NotFound:
            return Footing((self.job.block_mib or DEFAULT_BLOCK_SIZE // MIB) * MIB, None)
        try:
            base = self.volume.backup_cfg(last.last_backup_name) if last.last_backup_name else None
        except (NotFound, DamagedMetadata):
            base = None
        if base is None:
            return Footing(self._size_of_other_blocks(), None)
        # Blocks are read with the method that the cfg names: those of another method cannot be named by this one.
        builds = self.volume.may_reuse(base) and not base.in_progress and base.compression is last.compression
        return Footing(base.block_size, base if builds and self.job.mode is BackupMode.INCREMENTAL else None)

    def _size_of_other_blocks(self) -> int:
        """Where the record names no backup that can be read: any other tells it, and where there is none, the job."""
        for name in sorted(self.volume.backup_names()):
            with contextlib.suppress(NotFound, DamagedMetadata):
                cfg = self.volume.backup_cfg(name)
                if not cfg.in_progress:
                    return cfg.block_size
        return (self.job.block_mib or DEFAULT_BLOCK_SIZE // MIB) * MIB

    def run(self, source: VolumeSource, footing: "Footing") -> TransferResult:
        """Move everything. Needs the lock. After an error no trace of the backup is left but blocks nobody names.

        Raises FootingLost if what the source was opened for is not so any more: open it anew.
        """
        source.begin_reading()
        if self.footing().block_size != footing.block_size:
            raise FootingLost
        self._hands(source.size, footing.block_size)  # raises before anything is written
        volume_cfg = self._volume_cfg(source.size, footing.block_size)
        begun = BackupCfg(
            name=self.job.store_backup,
            volume_name=self.volume.name,
            compression=volume_cfg.compression,
            parameters=OUR_MARK,
        )
        self.volume.save_backup_cfg(begun)
        try:
            moved = self._move(source, begun, footing)
            self.progress.keep("finalising")
            self.checkpoint()
            final = self._final_cfg(source, moved, begun, footing.block_size)
            self._volume_cfg(source.size, footing.block_size)  # it may have turned out larger
            if moved.read_anything:
                # Also for blocks that were there already: whoever put them may have died before it could flush.
                self.volume.objects.flush()
            self.checkpoint()
            self.still_locked()
            stored = self.volume.save_backup_cfg(final)
        except BaseException:
            self._withdraw(begun)
            raise
        self.settle(final, new_blocks=moved.new_blocks)
        self._keep_map(source, final)
        return self.result(final).replace(
            warnings=(*source.warnings(), *keep_index(self.volume, self.clock, written=stored)),
            snapshot=source.snapshot,
            left_out=tuple(source.left_out),
        )

    def result(self, cfg: BackupCfg) -> TransferResult:
        """What there is to tell about a finished backup."""
        return TransferResult(
            url=BackupUrl(self.job.target.url, cfg.volume_name, cfg.name).encode(),
            size=shown_size(cfg.parameters, image_size=cfg.true_size or 0),
            new_bytes=cfg.newly_uploaded_size,
        )

    def _withdraw(self, begun: BackupCfg) -> None:
        """Remove our in-progress cfg, which would stop all deletion of blocks of this volume for ever.

        Not once others may hold the lock, and nothing that is finished: it could be somebody else's by now, or our own
        of which only the answer was lost. A later upload or removal of the same name takes over what stays.
        """
        with contextlib.suppress(Exception):
            # A store that is full takes no refreshed lock, but lets go of a cfg.
            with contextlib.suppress(NoSpace, StoreUnavailable):
                self.still_locked()
            if self.volume.backup_cfg(begun.name).in_progress:
                self.volume.delete_backup_cfg(begun.name)

    def _volume_cfg(self, size: int, block_size: int) -> VolumeCfg:
        """The volume's record, made only if the store proves that there is none, and never with a smaller size.

        It grows before the backup exists, so that a backup is whole from its first instant.
        """
        fresh = VolumeCfg(
            name=self.volume.name,
            size=align_up(size, block_size),
            created_time=format_time(self.clock.now()),
            compression=Compression(self.job.compression or Compression.LZ4),
        )
        try:
            found = self.volume.volume_cfg()
        except NotFound:
            if self.volume.create_volume_cfg(fresh):
                return fresh
            found = self.volume.volume_cfg()
        if found.size < fresh.size:
            found = replace(found, size=fresh.size)
            self.volume.save_volume_cfg(found)
        return found

    def _move(self, source: VolumeSource, cfg: BackupCfg, footing: "Footing") -> MovedBlocks:
        block_size = footing.block_size
        full = self.job.mode is BackupMode.FULL
        destination = Destination(self.volume, cfg, block_size, known=self._known_blocks(), full=full)
        moved = MovedBlocks(destination, progress=self.progress, checkpoint=self.checkpoint)
        if footing.base is not None and self._is_same(source, footing.base) and moved.knows(footing.base.blocks):
            moved.take_over(footing.base.blocks)
            same = len(footing.base.blocks) * block_size
            self.progress.enter(READING, total_bytes=same, size=source.shown_size)
            self.progress.add(same)
            return moved
        kept = _kept_refs(source, footing.base)
        # A block that the store lost must be sent again, and for that it must be read (longhorn#9784).
        if not moved.knows(kept):
            raise FootingLost
        moved.take_over(kept)
        self.progress.enter(READING, total_bytes=source.bytes_to_read, size=source.shown_size)
        planned = 0
        for ranges in source.rounds():
            offsets = array("Q", block_offsets(ranges, block_size))
            planned += len(offsets) * block_size
            self.progress.expect(max(planned, source.bytes_to_read), size=source.shown_size)
            moved.move(source, offsets, self._hands(source.size, block_size))
        self.progress.expect(planned, size=source.shown_size)
        return moved

    def _hands(self, size: int, block_size: int) -> UploadHands:
        return upload_hands(
            self.job.memory_bytes,
            block_size=block_size,
            volume_size=size,
            in_flight=self.volume.objects.requests_in_flight,
            named_at_once=self.volume.named_at_once,
        )

    def _known_blocks(self) -> ChecksumSet:
        known = ChecksumSet()
        for name, size in self.volume.block_sizes():
            known.add(name, size)
        return known

    def _is_same(self, source: VolumeSource, base: BackupCfg) -> bool:
        """Whether it is proven that the source still holds exactly what its last backup holds. Any doubt: no."""
        kept = self.kept_maps.find(self.job.target.url, self.volume.name) if self.kept_maps else None
        if kept is None or kept.proof != self._proof(source):
            return False
        return (base.name, base.created_time, base.true_size) == (kept.backup, kept.created_time, source.size)

    def _keep_map(self, source: VolumeSource, cfg: BackupCfg) -> None:
        proof = self._proof(source)
        if self.kept_maps is not None and proof is not None:
            self.kept_maps.keep(self.job.target.url, self.volume.name, KeptMap(cfg.name, cfg.created_time, proof))

    def _proof(self, source: VolumeSource) -> str | None:
        return source.proof(settled_before=min(self.job.started_at, self.clock.now()))

    def _final_cfg(self, source: VolumeSource, moved: MovedBlocks, begun: BackupCfg, block_size: int) -> BackupCfg:
        return replace(
            begun,
            snapshot_name=self.job.snapshot_name,
            snapshot_created_at=format_time(self.job.started_at),
            created_time=format_time(self.clock.now()),
            labels=self.job.labels,
            is_incremental=moved.took_over,
            parameters=source.cfg_parameters
            | block_parameters(block_size=block_size, true_size=source.size, mode=self.job.mode),
            newly_uploaded_size=moved.new_bytes,
            re_uploaded_size=moved.repaired_bytes,
            blocks=moved.blocks.ascending(),
        )


@dataclass(frozen=True)
class Footing:
    """What an upload builds on: the size of blocks, and the volume's last backup if its blocks may be named again.

    The size is that of the last backup: Longhorn makes unrestorable backups out of a mixture. Only a volume that is new
    to the store gets what the job asks for.
    """

    block_size: int
    base: BackupCfg | None


class FootingLost(Exception):
    """The store is not any more what the source was opened for."""


def block_offsets(ranges: Iterable[tuple[int, int]], block_size: int) -> Iterator[int]:
    """Where the blocks begin that may hold data, ascending, each once."""
    following = 0
    for offset, length in ranges:
        following = max(following, offset // block_size * block_size)
        while following < offset + length:
            yield following
            following += block_size


def _kept_refs(source: VolumeSource, base: BackupCfg | None) -> BlockMap:
    if base is None:
        return BlockMap.empty()
    blocks = BlockMap.of(base.blocks)
    # What is not in the base is zeros there, and so it is here.
    return BlockMap.of(
        BlockRef(offset, ref.checksum) for offset, before in source.kept_blocks() if (ref := blocks.at(before))
    )

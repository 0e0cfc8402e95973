"""What one volume backup holds, read ahead by a few threads and checked before anyone sees it."""

import contextlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from tidegate.datapath.crew import work_ahead, work_through
from tidegate.datapath.downloads.second_best import advice_for
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.decide.transfers.mover_memory import download_hands
from tidegate.errors import DamagedBlock, DamagedMetadata, MissingBlock, Refused, TidegateError
from tidegate.format.blocks.block_map import BlockMap, BlockRef
from tidegate.format.blocks.checksum import checksum
from tidegate.format.cfgs.backup_cfg import BackupCfg

T = TypeVar("T")
R = TypeVar("R")


class StoredContent:
    """Keeps the BackupContent's promise for one backup of one volume. Used as a context manager.

    Whoever reads in order finds the next blocks read ahead; going back, or jumping, costs only time.
    """

    def __init__(
        self,
        volume: StoredVolume,
        cfg: BackupCfg,
        *,
        size: int,
        kept: frozenset[int] | None = None,
        memory: int | None = None,
    ) -> None:
        self._hands = download_hands(
            memory,
            block_size=cfg.block_size,
            volume_size=size,
            wanted=volume.objects.requests_in_flight,
            checked_at_once=volume.checked_at_once(cfg),
        )
        self._volume = volume
        self._cfg = cfg
        self._size = size
        self._kept = kept
        # Compact: a volume of one TiB has half a million blocks.
        self._map = BlockMap.of(cfg.blocks)
        self._offsets = self._map.offsets
        # What the destination should have already is read only if it turns out to be wrong there.
        self._to_read: Sequence[int] = (
            array("Q", (offset for offset in self._offsets if offset not in kept)) if kept else self._offsets
        )
        self._readers: ThreadPoolExecutor | None = None
        self._ahead: dict[int, Future[bytes]] = {}

    @property
    def size(self) -> int:
        """See BackupContent."""
        return self._size

    @property
    def block_size(self) -> int:
        """See BackupContent."""
        return self._cfg.block_size

    @property
    def block_offsets(self) -> Sequence[int]:
        """See BackupContent."""
        return self._offsets

    @property
    def cfg_parameters(self) -> dict[str, str]:
        """See BackupContent."""
        return dict(self._cfg.parameters)

    @property
    def kept(self) -> frozenset[int] | None:
        """See BackupContent."""
        return self._kept

    @property
    def makers(self) -> int:
        """See BackupContent."""
        return self._hands.makers

    def without_zeros(self) -> Iterator[int]:
        """The offsets without those of blocks of zeros: Longhorn stores them, and to us they are holes."""
        zeros = checksum(bytes(self.block_size))
        return (ref.offset for ref in self._map if ref.checksum != zeros)

    def is_block(self, offset: int, block: bytes) -> bool:
        """See BackupContent."""
        return checksum(block.ljust(self.block_size, b"\0")) == self._ref(offset).checksum

    def read_block(self, offset: int) -> bytes:
        """See BackupContent."""
        going_back = bool(self._ahead) and offset < min(self._ahead)
        wanted = self._ahead.pop(offset, None) or self._fetch(offset)
        if not going_back:
            self._forget(before=offset)
            self._read_on(offset)
        return wanted.result()

    def fetch_block(self, offset: int) -> bytes:
        """See BackupContent."""
        [block] = self.fetch_blocks([offset])
        return block

    @property
    def fetched_at_once(self) -> int:
        """See BackupContent."""
        return self._hands.fetched_at_once

    def fetch_blocks(self, offsets: Sequence[int]) -> list[bytes]:
        """See BackupContent. The error for a block that is lost names the newest backup that has one there."""
        refs = [self._ref(offset) for offset in offsets]
        blocks = []
        for ref, found in zip(refs, self._volume.read_blocks(refs, self._cfg), strict=True):
            if not isinstance(found, bytes):
                raise self._with_advice(found, ref)
            blocks.append(found)
        return blocks

    def _with_advice(self, error: DamagedBlock | MissingBlock, ref: BlockRef) -> DamagedBlock | MissingBlock:
        advice = ""
        with contextlib.suppress(TidegateError):  # the first error is the one to tell
            advice = f"; {advice_for(self._volume, ref, self._cfg.name)}"
        told = type(error)(f"{error.message}{advice}", hint=error.hint)
        told.__cause__ = error
        return told

    def in_parallel(self, items: Iterable[T], do: Callable[[T], None]) -> None:
        """See BackupContent."""
        self._rest()
        work_through(items, do, threads=self._hands.threads)

    def ahead(self, items: Iterable[T], prepare: Callable[[T], R], *, blocks: int = 1) -> Iterator[tuple[T, R]]:
        """See BackupContent."""
        self._rest()
        # What is ready waits for its turn: with several blocks in each, half as many are enough.
        threads = self._hands.threads if blocks == 1 else max(1, self._hands.threads // 2)
        return work_ahead(items, prepare, threads=threads)

    def __enter__(self) -> "StoredContent":
        return self

    def __exit__(self, *_: object) -> None:
        self._rest()

    def _read_on(self, offset: int) -> None:
        following = bisect_right(self._to_read, max(offset, max(self._ahead, default=-1)))
        while len(self._ahead) < self._hands.ahead and following < len(self._to_read):
            self._ahead[self._to_read[following]] = self._fetch(self._to_read[following])
            following += 1

    def _ref(self, offset: int) -> BlockRef:
        ref = self._map.at(offset)
        if ref is None:
            raise KeyError(offset)
        return ref

    def _fetch(self, offset: int) -> Future[bytes]:
        if self._readers is None:
            self._readers = ThreadPoolExecutor(self._hands.readers, thread_name_prefix="reader")
        return self._readers.submit(self.fetch_block, offset)

    def _rest(self) -> None:
        """Nothing is read ahead any more: there is memory for readers or for threads that fetch, not for both."""
        self._forget(before=self._offsets[-1] + 1 if self._offsets else 0)
        if self._readers is not None:
            self._readers.shutdown(cancel_futures=True)
            self._readers = None

    def _forget(self, *, before: int) -> None:
        """What was passed over is not needed any more."""
        for passed in [offset for offset in self._ahead if offset < before]:
            self._ahead.pop(passed).cancel()


def open_backup(
    volume: StoredVolume, backup: str, *, onto: str | None = None, memory: int | None = None
) -> StoredContent:
    """The content of a finished backup. Raises NotFound, DamagedMetadata, WrongKey, or Refused with the reason.

    With `onto`, the content knows what a destination that holds that earlier backup need not be given again. No more
    is read at once than fits into `memory`.
    """
    cfg = finished_cfg(volume, backup)
    size = content_size(volume, cfg)
    kept = _kept(cfg, finished_cfg(volume, onto)) if onto else None
    return StoredContent(volume, cfg, size=size, kept=kept, memory=memory)


def content_size(volume: StoredVolume, cfg: BackupCfg) -> int:
    """Bytes of the volume as it was then. Raises NotFound, or DamagedMetadata if it cannot be right."""
    size = cfg.true_size
    if size is None:
        # Longhorn's backups do not say how large the volume was then: it restores to the size that it has now.
        size = volume.volume_cfg().size
    if size == 0:
        raise DamagedMetadata(f"the store does not tell the size of volume {volume.name}")
    if cfg.blocks and cfg.blocks[-1].offset >= size:
        raise DamagedMetadata(f"backup {cfg.name} has blocks behind the end of volume {volume.name} ({size} bytes)")
    return size


def finished_cfg(volume: StoredVolume, backup: str) -> BackupCfg:
    """The cfg of a backup that can be restored. Raises NotFound, DamagedMetadata, or Refused with the reason."""
    cfg = volume.backup_cfg(backup)
    if cfg.in_progress:
        raise Refused(
            f"backup {backup} of volume {volume.name} is still in progress, or was never finished",
            hint="choose a backup that is complete",
        )
    volume.check_key(cfg)
    if cfg.single_file:
        raise Refused(f"backup {backup} of volume {volume.name} holds a single file, which cannot be restored")
    return cfg


def _kept(cfg: BackupCfg, earlier: BackupCfg) -> frozenset[int]:
    """Where both have the same block. Whatever else the earlier one had is written anew, or becomes zeros."""
    if cfg.block_size != earlier.block_size:
        raise Refused(
            f"backup {earlier.name} has blocks of {earlier.block_size} bytes, backup {cfg.name} of {cfg.block_size}: "
            "one cannot be restored onto the other",
            hint="restore the backup as a whole",
        )
    before = BlockMap.of(earlier.blocks)
    return frozenset(ref.offset for ref in cfg.blocks if before.at(ref.offset) == ref)

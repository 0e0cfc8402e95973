"""What one volume backup holds, read ahead by a few threads and checked before anyone sees it."""

from bisect import bisect_right
from concurrent.futures import Future, ThreadPoolExecutor

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedMetadata, Refused
from tidegate.format.backup_cfg import BackupCfg, BlockRef

READERS = 4
# Bounds the memory of a restore: so many blocks may wait to be used.
_AHEAD = 8


class StoredContent:
    """Keeps the BackupContent's promise for one backup of one volume. Used as a context manager, by one thread.

    Blocks that follow the one asked for are fetched meanwhile; going back, or jumping, costs only time.
    """

    def __init__(self, volume: StoredVolume, cfg: BackupCfg, *, size: int) -> None:
        self._volume = volume
        self._cfg = cfg
        self._size = size
        self._offsets = [ref.offset for ref in cfg.blocks]
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="reader")
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
    def block_offsets(self) -> list[int]:
        """See BackupContent."""
        return self._offsets

    @property
    def cfg_parameters(self) -> dict[str, str]:
        """See BackupContent."""
        return dict(self._cfg.parameters)

    def read_block(self, offset: int) -> bytes:
        """See BackupContent."""
        index = bisect_right(self._offsets, offset) - 1
        going_back = bool(self._ahead) and offset < min(self._ahead)
        wanted = self._ahead.pop(offset, None) or self._fetch(index)
        if not going_back:
            self._forget(before=offset)
            self._read_on(index)
        return wanted.result()

    def __enter__(self) -> "StoredContent":
        return self

    def __exit__(self, *_: object) -> None:
        self._forget(before=self._offsets[-1] + 1 if self._offsets else 0)
        self._readers.shutdown(cancel_futures=True)

    def _read_on(self, index: int) -> None:
        following = max(index + 1, bisect_right(self._offsets, max(self._ahead, default=-1)))
        while len(self._ahead) < _AHEAD and following < len(self._offsets):
            self._ahead[self._offsets[following]] = self._fetch(following)
            following += 1

    def _fetch(self, index: int) -> Future[bytes]:
        ref: BlockRef = self._cfg.blocks[index]
        return self._readers.submit(self._volume.read_block, ref, self._cfg)

    def _forget(self, *, before: int) -> None:
        """What was passed over is not needed any more."""
        for passed in [offset for offset in self._ahead if offset < before]:
            self._ahead.pop(passed).cancel()


def open_backup(volume: StoredVolume, backup: str) -> StoredContent:
    """The content of a finished backup. Raises NotFound, DamagedMetadata, WrongKey, or Refused with the reason."""
    cfg = volume.backup_cfg(backup)
    if cfg.in_progress:
        raise Refused(
            f"backup {backup} of volume {volume.name} is still in progress, or was never finished",
            hint="choose a backup that is complete",
        )
    volume.check_key(cfg)
    if cfg.single_file:
        raise Refused(f"backup {backup} of volume {volume.name} holds a single file, which cannot be restored")
    size = cfg.true_size
    if size is None:
        # Longhorn's backups do not say how large the volume was then: it restores to the size that it has now.
        size = volume.volume_cfg().size
    if size == 0:
        raise DamagedMetadata(f"the store does not tell the size of volume {volume.name}")
    if cfg.blocks and cfg.blocks[-1].offset >= size:
        raise DamagedMetadata(f"backup {backup} has blocks behind the end of volume {volume.name} ({size} bytes)")
    return StoredContent(volume, cfg, size=size)

"""Whether a backup can be decoded: everything that a restore reads and understands before it makes the first file."""

import hashlib
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from tidegate.datapath.downloads.download import content_size
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedBlock, DamagedMetadata, MissingBlock, NotFound
from tidegate.format.blocks.block_map import BlockMap
from tidegate.format.cfgs.backup_cfg import BackupCfg
from tidegate.format.trees.entry import TreeEntry
from tidegate.format.trees.packed_reader import ImageBytes, read_manifest
from tidegate.format.trees.packed_tree import TreeMark
from tidegate.format.trees.whole_tree import check_whole

_BETWEEN_LOOKS = 1000


class ManifestCheck:
    """Looks at the backups of one volume. A manifest that several of them share is read once."""

    def __init__(self, volume: StoredVolume, *, checkpoint: Callable[[], None]) -> None:
        self._volume = volume
        self._checkpoint = checkpoint
        self._known: dict[bytes, str] = {}

    def problem(self, cfg: BackupCfg) -> str:
        """Why no restore can begin, as a sentence; empty if it can. The key fits. Raises what the ObjectStore raises.

        A block of the manifest that is missing is no problem of its own: to find missing blocks is for others.
        """
        try:
            mark = TreeMark.of(cfg.parameters, image_size=content_size(self._volume, cfg))
        except DamagedMetadata as error:
            return error.message
        except NotFound:  # the volume's record, which tells the size of backups that Longhorn made
            return ""
        if mark is None:
            return ""
        blocks = _Blocks(self._volume, cfg)
        manifest = blocks.identity_of(mark)
        if manifest not in self._known:
            self._known[manifest] = self._read(blocks, mark)
        return self._known[manifest]

    def _read(self, blocks: "_Blocks", mark: TreeMark) -> str:
        try:
            with tempfile.TemporaryFile() as spool:
                entries = read_manifest(ImageBytes(blocks, on_bytes=lambda _: self._checkpoint()), mark, spool)
                check_whole(lambda: self._looking_up(entries()))
        except MissingBlock:
            return ""
        except (DamagedMetadata, DamagedBlock) as error:
            return error.message
        return ""

    def _looking_up(self, entries: Iterator[TreeEntry]) -> Iterator[TreeEntry]:
        for number, entry in enumerate(entries):
            if number % _BETWEEN_LOOKS == 0:
                self._checkpoint()
            yield entry


class _Blocks:
    """The blocks of a backup, one at a time. Nothing is read ahead: a manifest has few."""

    def __init__(self, volume: StoredVolume, cfg: BackupCfg) -> None:
        self._volume = volume
        self._cfg = cfg
        self._map = BlockMap.of(cfg.blocks)

    @property
    def block_size(self) -> int:
        return self._cfg.block_size

    @property
    def block_offsets(self) -> Sequence[int]:
        return self._map.offsets

    def read_block(self, offset: int) -> bytes:
        ref = self._map.at(offset)
        if ref is None:
            raise KeyError(offset)
        return self._volume.read_block(ref, self._cfg)

    def identity_of(self, mark: TreeMark) -> bytes:
        """Equal for manifests of equal bytes about equal contents."""
        offsets, end = self._map.offsets, mark.manifest_offset + mark.manifest_length
        first = mark.manifest_offset // self.block_size * self.block_size
        digest = hashlib.sha256(repr((mark.manifest_offset, mark.manifest_length, mark.manifest_checksum)).encode())
        for index in range(bisect_left(offsets, first), bisect_left(offsets, end)):
            ref = self._map.at(offsets[index])
            digest.update(f"{offsets[index]} {ref and ref.checksum} ".encode())
        return digest.digest()

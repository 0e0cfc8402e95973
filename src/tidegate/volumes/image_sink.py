"""Restoring to an image file: written beside it, sparse, then renamed into place."""

import contextlib
import os
import stat
from collections.abc import Callable, Sequence

from tidegate.errors import DestinationUnusable
from tidegate.format.image_rights import ImageRights
from tidegate.format.packed_tree import CONTENT, TREE
from tidegate.model.restore import ExistingData
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.workplace import make_file, sync_directory, workplace, writing_to


class ImageSink:
    """Keeps the VolumeSink's promise for an image file."""

    def __init__(self, path: str, existing_data: ExistingData) -> None:
        # A link to the image stays a link; what it leads to is replaced.
        self._path = os.path.realpath(path)
        self._existing_data = existing_data
        self._check_free()

    def receive(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> Sequence[str]:
        """See VolumeSink."""
        if content.cfg_parameters.get(CONTENT) == TREE:
            raise DestinationUnusable("the backup holds a file tree; restore it to a directory, not to an image")
        with workplace(self._path, make=make_file) as place:
            with open(place, "r+b", buffering=0) as file:
                _fill(file.fileno(), content, on_bytes)
                self._give_rights(file.fileno(), ImageRights.from_parameters(content.cfg_parameters))
                os.fsync(file.fileno())
            self._check_free()
            os.rename(place, self._path)
            sync_directory(os.path.dirname(self._path))
        return ()

    def _check_free(self) -> None:
        with writing_to(self._path):
            try:
                found = os.stat(self._path)
            except FileNotFoundError:
                return
        if stat.S_ISBLK(found.st_mode):
            raise DestinationUnusable(
                f"{self._path} is a block device; restore to an image file and copy that to the device"
            )
        if not stat.S_ISREG(found.st_mode):
            raise DestinationUnusable(f"{self._path} exists and is not a regular file")
        if self._existing_data is not ExistingData.OVERWRITE:
            raise DestinationUnusable(
                f"{self._path} exists already", hint="allow it to be overwritten, or restore to another place"
            )

    def _give_rights(self, handle: int, recorded: ImageRights | None) -> None:
        """Those of the image that is replaced, else those that were backed up, else it is ours alone."""
        with contextlib.suppress(FileNotFoundError):
            before = os.stat(self._path)
            recorded = ImageRights(stat.S_IMODE(before.st_mode), before.st_uid, before.st_gid)
        if recorded is not None:
            with contextlib.suppress(PermissionError):  # only root may give files away
                os.fchown(handle, recorded.user, recorded.group)
            os.fchmod(handle, recorded.mode)


def _fill(handle: int, content: BackupContent, on_bytes: Callable[[int], None]) -> None:
    os.ftruncate(handle, content.size)
    zeros = bytes(content.block_size)
    for offset in content.block_offsets:
        block = content.read_block(offset)
        # The last block of an odd image is padded in the store; a block of zeros is already there as a hole.
        if block != zeros:
            _write(handle, block[: content.size - offset], offset)
        on_bytes(len(block))


def _write(handle: int, piece: bytes, offset: int) -> None:
    rest = memoryview(piece)
    while rest:
        written = os.pwrite(handle, rest, offset)
        rest, offset = rest[written:], offset + written

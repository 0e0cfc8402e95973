"""Restoring onto a block device: in place, because there is nothing beside a device; so only when it is forced."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tidegate.errors import DestinationUnusable
from tidegate.format.packed_tree import CONTENT, TREE
from tidegate.model.mover_job import DownloadJob
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.image_writer import bring_up_to_date, fill
from tidegate.volumes.workplace import writing_to

# For a block device this means: not while anybody has it mounted or otherwise in use.
_UNUSED = os.O_EXCL


class DeviceSink:
    """Keeps the VolumeSink's promise but for one thing: a failure leaves the device half written, and says so."""

    def __init__(self, job: DownloadJob) -> None:
        self._path = os.path.realpath(job.path)
        with writing_to(self._path):
            found = os.stat(self._path)
        if not stat.S_ISBLK(found.st_mode):
            raise DestinationUnusable(f"{self._path} is not a block device")
        if not job.force:
            raise DestinationUnusable(
                f"{self._path} is a block device: restoring onto it destroys what it holds, also if the restore fails",
                hint="use --force if that is meant",
            )

    def receive(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> Sequence[str]:
        """See VolumeSink."""
        if content.cfg_parameters.get(CONTENT) == TREE:
            raise DestinationUnusable("the backup holds a file tree; restore it to a directory, not to a device")
        with writing_to(self._path), _opened(self._path) as handle:
            return write_onto(handle, content, on_bytes=on_bytes, path=self._path)


def write_onto(handle: int, content: BackupContent, *, on_bytes: Callable[[int], None], path: str) -> Sequence[str]:
    """Write the whole size, holes as zeros, and make it durable. Raises DestinationUnusable if it does not fit."""
    room = os.lseek(handle, 0, os.SEEK_END)
    if room < content.size:
        raise DestinationUnusable(f"{path} has {room} bytes; the backup needs {content.size}")
    changed = 0
    if content.kept is None:
        fill(handle, content, on_bytes, sparse=False)
    else:
        changed = bring_up_to_date(handle, content, on_bytes)
    os.fsync(handle)
    return changed_warning(path, changed)


def changed_warning(path: str, changed: int) -> Sequence[str]:
    """What a person should know about a destination that was not as it should be."""
    if not changed:
        return ()
    return (f"{path} was written to since the earlier restore: {changed} blocks that had not to change were mended",)


@contextmanager
def _opened(path: str) -> Iterator[int]:
    handle = os.open(path, os.O_RDWR | _UNUSED | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)

"""Restoring onto a block device: in place, because there is nothing beside a device; so only when it is forced."""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tidegate.disk.direct_writer import write_at
from tidegate.disk.in_use import user_of_device
from tidegate.errors import DestinationUnusable, TidegateError
from tidegate.format.trees.packed_tree import CONTENT, TREE
from tidegate.model.transfers.mover_job import DownloadJob
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.images.read_back import compare_image
from tidegate.volumes.images.unfinished_mark import MARK
from tidegate.volumes.images.writer import bring_up_to_date, fill
from tidegate.volumes.workplace import writing_to

# For a block device this means: not while anybody has it mounted or otherwise in use.
_UNUSED = os.O_EXCL


class DeviceSink:
    """Keeps the VolumeSink's promise but for one thing: a failure leaves the device half written, and it says so."""

    def __init__(self, job: DownloadJob) -> None:
        self._path = os.path.realpath(job.path)
        with writing_to(self._path):
            found = os.stat(self._path)
        if not stat.S_ISBLK(found.st_mode):
            raise DestinationUnusable(f"{self._path} is not a block device")
        user = user_of_device(self._path)
        if not job.force:
            raise DestinationUnusable(
                f"{self._path} is a block device{f', {user}' if user else ''}: restoring onto it destroys what it "
                "holds, also if the restore fails",
                hint="force it if that is meant; it is then written to even while it is mounted or held"
                if user is None
                else "end that first; or force it, and whoever uses it goes on with what is there no more",
            )

    @property
    def chosen_bytes(self) -> None:
        """See VolumeSink: an image comes back as a whole."""

    def receive(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> Sequence[str]:
        """See VolumeSink."""
        if content.cfg_parameters.get(CONTENT) == TREE:
            raise DestinationUnusable("the backup holds a file tree; restore it to a directory, not to a device")
        with _opened(self._path) as (handle, used):
            warnings = [_used_warning(self._path)] if used else []
            return [*warnings, *write_onto(handle, content, on_bytes=on_bytes, path=self._path)]

    def read_back(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> None:
        """See VolumeSink."""
        compare_image(self._path, content, on_bytes=on_bytes)


def write_onto(handle: int, content: BackupContent, *, on_bytes: Callable[[int], None], path: str) -> Sequence[str]:
    """Write the whole size, holes as zeros, and make it durable. Raises DestinationUnusable if it does not fit."""
    with writing_to(path):
        room = os.lseek(handle, 0, os.SEEK_END)
        if room < content.size:
            raise DestinationUnusable(f"{path} has {room} bytes; the backup needs {content.size}")
        head = min(content.block_size, content.size)
        write_at(handle, MARK.ljust(head, b"\0")[:head], 0)
        os.fsync(handle)
    with _told_as_unfinished(path), writing_to(path):
        changed = 0
        if content.kept is None:
            fill(handle, content, on_bytes, sparse=False, begin_at=head)
        else:
            changed = bring_up_to_date(handle, content, on_bytes, begin_at=head)
        first = bytes(head)
        if content.block_offsets and content.block_offsets[0] == 0:
            first = content.fetch_block(0)[:head]
            on_bytes(content.block_size)
        os.fsync(handle)
        write_at(handle, first, 0)
        os.fsync(handle)
    return changed_warning(path, changed)


def changed_warning(path: str, changed: int) -> Sequence[str]:
    """What a person should know about a destination that was not as it should be."""
    if not changed:
        return ()
    return (f"{path} was written to since the earlier restore: {changed} blocks that had not to change were mended",)


@contextmanager
def _told_as_unfinished(path: str) -> Iterator[None]:
    try:
        yield
    except TidegateError as error:
        message = f"{error.message}; {path} is half written now, and says so at its beginning"
        raise type(error)(message, hint=error.hint or "restore onto it again") from error


def _used_warning(path: str) -> str:
    user = user_of_device(path) or "in use"
    return (
        f"{path} is {user} and was written to all the same, because it was forced: whoever uses it knows nothing of "
        "the new content, and may spoil it; end that, and restore onto it again if the device is not whole then"
    )


@contextmanager
def _opened(path: str) -> Iterator[tuple[int, bool]]:
    """The device, and whether somebody else uses it: it is opened all the same, for only who forces it comes here."""
    with writing_to(path):
        try:
            handle, used = os.open(path, os.O_RDWR | _UNUSED | os.O_CLOEXEC), False
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            handle, used = os.open(path, os.O_RDWR | os.O_CLOEXEC), True
    try:
        yield handle, used
    finally:
        os.close(handle)

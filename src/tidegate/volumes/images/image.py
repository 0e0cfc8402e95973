"""Image files and block devices as sources: a run of bytes, holes left out."""

import json
import os
import stat
from collections.abc import Iterator, Sequence
from datetime import datetime

from tidegate.disk.reflink import unnamed_clone
from tidegate.errors import SourceUnreadable
from tidegate.format.cfgs.image_rights import ImageRights
from tidegate.model.transfers.mover_job import SnapshotWish
from tidegate.model.volumes.volume_ref import Device, Image
from tidegate.ports.volume_data import NO_SNAPSHOT
from tidegate.volumes.images.holes import data_ranges
from tidegate.volumes.images.snapshot import Clone, take_snapshot
from tidegate.volumes.images.unfinished_mark import refuse_unfinished
from tidegate.volumes.trees.attributes import plain_mode

# Coarser than the times of any file system that is in use.
_MARGIN_SECONDS = 2


class ImageSource:
    """Keeps the VolumeSource's promise for one image file or device. Its size is the one at the beginning.

    Without a snapshot the image is read as it is, and looked at again at the end: a change is told.
    """

    def __init__(
        self, volume: Image | Device, *, wish: SnapshotWish = SnapshotWish.AUTO, clone: Clone = unnamed_clone
    ) -> None:
        self._path = path = volume.path
        self._wish = wish
        self._live = open_image(volume)
        try:
            self._can_prove = _written_out(self._live)
            self._before = os.fstat(self._live)
            self._snapshot = take_snapshot(path, self._live, wish, clone)
            self._after_snapshot = os.fstat(self._live)
        except BaseException:
            os.close(self._live)
            raise
        self._handle = self._live if self._snapshot.handle is None else self._snapshot.handle
        self._was_read = False
        try:
            self._size = image_size(self._handle, path)
            refuse_unfinished(self._handle, path)
        except SourceUnreadable:
            self.__exit__()
            raise

    def begin_reading(self) -> None:
        """See VolumeSource. What was written while we waited was not written while we read."""
        if self._snapshot.handle is None:
            self._can_prove = _written_out(self._live)
            self._before = os.fstat(self._live)
            self._size = image_size(self._live, self._path)

    @property
    def size(self) -> int:
        """See VolumeSource."""
        return self._size

    @property
    def shown_size(self) -> int:
        """See VolumeSource."""
        return self._size

    @property
    def bytes_to_read(self) -> int:
        """See VolumeSource."""
        return sum(length for ranges in self.rounds() for _, length in ranges)

    @property
    def cfg_parameters(self) -> dict[str, str]:
        """See VolumeSource."""
        if not stat.S_ISREG(self._before.st_mode):
            return {}
        facts = self._before
        return ImageRights(plain_mode(self._live, facts), facts.st_uid, facts.st_gid).to_parameters()

    def proof(self, *, settled_before: datetime) -> str | None:
        """See VolumeSource. A device does not know when it was written to."""
        # What a snapshot holds is what the image was at that time, whatever happened to it since.
        before, now = _identity(self._before), self._now()
        newest_ns = max(now.st_mtime_ns, now.st_ctime_ns)
        if not stat.S_ISREG(now.st_mode) or not self._can_prove or before != _identity(now):
            return None
        if newest_ns > (settled_before.timestamp() - _MARGIN_SECONDS) * 1_000_000_000:
            return None
        return json.dumps([os.path.realpath(self._path), *before])

    def kept_blocks(self) -> Iterator[tuple[int, int]]:
        """See VolumeSource. Either all of an image is proven to be the same, or nothing of it."""
        return iter(())

    def rounds(self) -> Iterator[Iterator[tuple[int, int]]]:
        """See VolumeSource."""
        is_file = stat.S_ISREG(self._before.st_mode)
        yield data_ranges(self._handle, self._size) if is_file else iter([(0, self._size)])

    def read_at(self, offset: int, length: int) -> bytes:
        """See VolumeSource."""
        self._was_read = True
        wanted = max(0, min(length, self._size - offset))
        pieces, missing = [], wanted
        while missing:
            try:
                piece = os.pread(self._handle, missing, offset + wanted - missing)
            except OSError as error:
                raise SourceUnreadable(f"{self._path} cannot be read at {offset}: {error.strerror}") from error
            if not piece:
                raise SourceUnreadable(f"{self._path} became shorter while it was read")
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces) if wanted == length else b"".join(pieces).ljust(length, b"\0")

    def warnings(self) -> Sequence[str]:
        """See VolumeSource."""
        if self._snapshot.handle is not None or not self._was_read:
            return ()
        live, now = f"{self._path}: live read", self._now()
        if (now.st_size, now.st_mtime_ns) != (self._before.st_size, self._before.st_mtime_ns):
            return (f"{live}: the image changed while it was read; the backup may mix old and new content",)
        if stat.S_ISREG(now.st_mode) and now.st_nlink == 0:
            return (f"{live}: the image was removed or replaced while it was read; the backup has the earlier one",)
        if _identity(now) != _identity(self._before):
            return (f"{live}: the image changed while it was read, its rights or its name if not its content",)
        return (f"{live}, without a snapshot: {self._snapshot.why_not}",) if self._wish is SnapshotWish.AUTO else ()

    @property
    def snapshot(self) -> str:
        """See VolumeSource."""
        return NO_SNAPSHOT if self._snapshot.handle is None else "reflink"

    @property
    def left_out(self) -> Sequence[str]:
        """See VolumeSource. An image is read as a whole, or not at all."""
        return ()

    def _now(self) -> os.stat_result:
        return self._after_snapshot if self._snapshot.handle is not None else os.fstat(self._live)

    def __enter__(self) -> "ImageSource":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._live)
        if self._snapshot.handle is not None:
            os.close(self._snapshot.handle)


def _written_out(handle: int) -> bool:
    """Write out what programs hold mapped: only then does their next write set the file's time anew."""
    try:
        os.fsync(handle)
    except OSError:
        return False
    return True


def _identity(facts: os.stat_result) -> tuple[int, ...]:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def open_image(volume: Image | Device) -> int:
    """A handle for reading; raises SourceUnreadable with a sentence if something else is there."""
    path = volume.path
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise SourceUnreadable(f"{path} does not exist") from error
    except PermissionError as error:
        raise SourceUnreadable(f"{path} may not be read: permission denied") from error
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be opened: {error.strerror}") from error
    mode = os.fstat(handle).st_mode
    if isinstance(volume, Device) and not stat.S_ISBLK(mode):
        os.close(handle)
        raise SourceUnreadable(f"{path} is not a block device")
    if isinstance(volume, Image) and not stat.S_ISREG(mode):
        os.close(handle)
        raise SourceUnreadable(f"{path} is not a regular file")
    return handle


def image_size(handle: int, path: str) -> int:
    """Bytes in all, also of a device; raises SourceUnreadable if there are none."""
    size = os.lseek(handle, 0, os.SEEK_END)
    if size == 0:
        raise SourceUnreadable(f"{path} is empty: there is nothing to back up")
    return size

"""A snapshot of an image for as long as it is read: a clone without a name, so nothing can be left behind."""

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

from tidegate.errors import SourceUnreadable
from tidegate.model.transfers.mover_job import SnapshotWish

# From a handle and a directory of the same file system to a handle of the clone; raises OSError.
Clone = Callable[[int, str], int]

_CANNOT = frozenset({errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EXDEV, errno.EISDIR, errno.ENOSYS})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


@dataclass(frozen=True)
class Snapshot:
    """What came of the wish: a handle of the clone, or the reason why there is none."""

    handle: int | None
    why_not: str = ""


def take_snapshot(path: str, image: int, wish: SnapshotWish, clone: Clone) -> Snapshot:
    """A clone of the open image, if it is wanted and can be had. Raises SourceUnreadable if one is required."""
    if wish is SnapshotWish.NEVER:
        return Snapshot(None)
    taken = _try(path, image, clone)
    if taken.handle is None and wish is SnapshotWish.REQUIRED:
        raise SourceUnreadable(
            f"{path} cannot be read from a snapshot: {taken.why_not}",
            hint="allow a live read, or stop what writes to it",
        )
    return taken


def _try(path: str, image: int, clone: Clone) -> Snapshot:
    if not stat.S_ISREG(os.fstat(image).st_mode):
        return Snapshot(None, "only of an image file one can be made, not of a device")
    try:
        return Snapshot(clone(image, os.path.dirname(os.path.realpath(path))))
    except OSError as error:
        if error.errno in _CANNOT:
            return Snapshot(None, "its file system has none")
        if error.errno in _FORBIDDEN:
            return Snapshot(None, "its directory may not be written to")
        return Snapshot(None, error.strerror or str(error))

"""Copies that share their blocks with the original until one of them is written to: Btrfs, XFS, bcachefs."""

import fcntl
import os

_FICLONE = 0x40049409


def unnamed_clone(source: int, directory: str) -> int:
    """A handle of a file without a name in `directory` that holds, at one instant, what `source` holds.

    Nobody else can open it, and it is gone with its last handle, however the process ends. Raises OSError where the
    file system cannot, `directory` may not be written to, or lies on another file system.
    """
    handle = os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.ioctl(handle, _FICLONE, source)
    except BaseException:
        os.close(handle)
        raise
    return handle

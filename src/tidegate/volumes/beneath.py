"""Opening what lies below a directory, without ever following a link out of it.

A tree may be changed by its users while it is read or written; a directory that becomes a symbolic link at the wrong
moment must not lead elsewhere. So every component is opened from the handle of the one above.
"""

import os

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY


def open_beneath(root: int, path: str, flags: int) -> int:
    """A handle of `path` below the directory `root`; raises OSError. The caller closes it."""
    *parts, name = path.split("/")
    directory = os.dup(root)
    try:
        for part in parts:
            inner = os.open(part, DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
            os.close(directory)
            directory = inner
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    finally:
        os.close(directory)

"""Extended attributes, ACLs among them, of what lies in a directory."""

import os
from functools import cache

_HANDLES = "/proc/self/fd"


def xattrs_in(directory: int, name: str) -> dict[str, bytes]:
    """Those that we may see; a file system without them has none. Links are not followed, nothing is opened."""
    if not _handles_are_shown():
        return _xattrs_opened(directory, name)
    path = f"{_HANDLES}/{directory}/{name}"
    try:
        names = os.listxattr(path, follow_symlinks=False)
        return {name: os.getxattr(path, name, follow_symlinks=False) for name in names} if names else {}
    except OSError:
        return {}


@cache
def _handles_are_shown() -> bool:
    return os.path.isdir(_HANDLES)


def _xattrs_opened(directory: int, name: str) -> dict[str, bytes]:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return {}
    try:
        return {name: os.getxattr(handle, name) for name in os.listxattr(handle)}
    except OSError:
        return {}
    finally:
        os.close(handle)

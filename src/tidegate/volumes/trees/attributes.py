"""Extended attributes, ACLs among them, of what lies in a directory."""

import errno
import os
import stat
from collections.abc import Callable
from functools import cache, partial

from tidegate.format.trees.access_list import ACCESS_LIST, mode_without

_HANDLES = "/proc/self/fd"
_ACCESS_LISTS = ("system.posix_acl_default", ACCESS_LIST)
# The file system has none, or the file is gone: its bytes will say so.
_NONE_THERE = frozenset({errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOENT, errno.ESTALE})

OnLoss = Callable[[str], None]


def xattrs_in(directory: int, name: str, on_loss: OnLoss) -> dict[str, bytes]:
    """Those that we may see; a file system without them has none. Links are not followed, nothing is opened.

    `on_loss` hears what could not be read, as the end of a sentence about the file.
    """
    if not _handles_are_shown():
        return _xattrs_opened(directory, name, on_loss)
    path = f"{_HANDLES}/{directory}/{name}"
    return _read(
        partial(os.listxattr, path, follow_symlinks=False),
        lambda attribute: os.getxattr(path, attribute, follow_symlinks=False),
        on_loss,
    )


def _read(list_names: Callable[[], list[str]], get: Callable[[str], bytes], on_loss: OnLoss) -> dict[str, bytes]:
    try:
        names = list_names()
    except OSError as error:
        if error.errno not in _NONE_THERE:
            on_loss(f"its extended attributes could not be read and were left out: {error.strerror}")
        return {}
    found: dict[str, bytes] = {}
    for name in names:
        try:
            found[name] = get(name)
        except OSError as error:
            if error.errno not in _NONE_THERE:
                on_loss(f"its attribute {name} could not be read and was left out: {error.strerror}")
    return found


@cache
def _handles_are_shown() -> bool:
    return os.path.isdir(_HANDLES)


def _xattrs_opened(directory: int, name: str, on_loss: OnLoss) -> dict[str, bytes]:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        if error.errno not in _NONE_THERE:
            on_loss(f"its extended attributes could not be read and were left out: {error.strerror}")
        return {}
    try:
        return _read(partial(os.listxattr, handle), partial(os.getxattr, handle), on_loss)
    finally:
        os.close(handle)


def set_xattr_in(directory: int, name: str, attribute: str, value: bytes) -> None:
    """Set one of a symbolic link, which cannot be opened. Raises OSError, also where handles are not shown."""
    os.setxattr(f"{_HANDLES}/{directory}/{name}", attribute, value, follow_symlinks=False)


def forget_inherited_rights(path: str) -> None:
    """Remove the access lists that a new file or directory has from the directory around it, and would pass on."""
    for name in _ACCESS_LISTS:
        try:
            os.removexattr(path, name, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NONE_THERE | {errno.ENODATA}:
                raise


def plain_mode(target: int | str, found: os.stat_result) -> int:
    """The mode of a file whose access list is not kept."""
    mode = stat.S_IMODE(found.st_mode)
    try:
        return mode_without(os.getxattr(target, ACCESS_LIST), mode)
    except OSError:  # it has none
        return mode

"""Removing a tree, however deep it is.

What lies many levels deep is brought up: moved to the top, and removed from there. So neither the stack nor the handles
of a process nor the length of a path is a limit, and no way leads up by `..`, which a user of the tree could have moved
elsewhere.
"""

import contextlib
import os
from dataclasses import dataclass
from itertools import count

_MOST_LEVELS = 32
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ONLY_OURS = 0o700
_BROUGHT_UP = ".tidegate-removed-"


@dataclass
class _Level:
    name: str
    handle: int
    left: list[str]


def clear_away(path: str) -> None:
    """Remove the directory with everything in it; what may not be removed stays, without an error."""
    with contextlib.suppress(OSError):
        _clear(path)
    with contextlib.suppress(OSError):
        os.rmdir(path)


def _clear(path: str) -> None:
    levels = [_Level(path, *_opened(path, None))]
    taken = {name for name in levels[0].left if name.startswith(_BROUGHT_UP)}  # by one that was killed
    free_names = (above for above in map(f"{_BROUGHT_UP}{{}}".format, count()) if above not in taken)
    try:
        while levels:
            level = levels[-1]
            if not level.left:
                levels.pop()
                os.close(level.handle)
                if levels:
                    _remove_directory(level.name, levels[-1].handle)
                continue
            name = level.left.pop()
            with contextlib.suppress(OSError):
                if _is_removed(name, level.handle):
                    continue
                inner = _opened(name, level.handle)
                if len(levels) < _MOST_LEVELS:
                    levels.append(_Level(name, *inner))
                    continue
                os.close(inner[0])
                above = next(free_names)
                os.rename(name, above, src_dir_fd=level.handle, dst_dir_fd=levels[0].handle)
                levels[0].left.append(above)
    finally:
        for level in levels:
            os.close(level.handle)


def _is_removed(name: str, directory: int) -> bool:
    """Whether it is gone now; a directory that holds something is not."""
    try:
        os.unlink(name, dir_fd=directory)
    except IsADirectoryError:
        return _remove_directory(name, directory)
    except PermissionError:
        return _remove_directory(name, directory)  # some file systems say this of a directory
    return True


def _remove_directory(name: str, directory: int) -> bool:
    try:
        os.rmdir(name, dir_fd=directory)
    except OSError:
        return False
    return True


def _opened(name: str, directory: int | None) -> tuple[int, list[str]]:
    """A handle of the directory and the names in it; one that its owner made read-only is made ours first."""
    look = os.open(name, os.O_PATH | _DIRECTORY, dir_fd=directory)
    try:
        with contextlib.suppress(OSError):
            # By its handle: a name may have become a link to elsewhere.
            os.chmod(f"/proc/self/fd/{look}", _ONLY_OURS)
        handle = os.open(".", _DIRECTORY, dir_fd=look)
    finally:
        os.close(look)
    try:
        return handle, os.listdir(handle)
    except OSError:
        os.close(handle)
        raise

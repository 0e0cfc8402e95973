"""A place beside a destination, to build in what will replace it.

    /srv/.shop.tidegate-x7ab   built here, in the same file system
    /srv/shop                  stays as it is until the very end

A workplace is locked while somebody works in it; one whose owner was killed is not, and the next one clears it away.
"""

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Callable, Iterator

from tidegate.errors import DestinationUnusable, NoSpace
from tidegate.volumes.trees.attributes import forget_inherited_rights
from tidegate.volumes.trees.clearing import clear_away

_LONGEST_NAME = 200
# Younger ones with nothing in them may have been made but not locked yet.
_GRACE_SECONDS = 60
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextlib.contextmanager
def workplace(destination: str, *, make: Callable[[str, str], str], inside: bool = False) -> Iterator[str]:
    """The path of a fresh place beside `destination`, made by `make(prefix, directory)`; removed if still there.

    With `inside` it is in `destination`, for one that is a file system of its own: beside it is another one. Missing
    parents are made, and removed again after an error. Errors of the operating system become DestinationUnusable or
    NoSpace.
    """
    parent, name = (destination, "restore") if inside else os.path.split(destination)
    prefix = f".{name[:_LONGEST_NAME]}.tidegate-"
    with writing_to(destination), _parents(parent):
        place = make(prefix, parent)
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _clear_away(parent, prefix, older_than=os.fstat(handle).st_mtime - _GRACE_SECONDS)
            yield place
        finally:
            remove(place)
            os.close(handle)


def make_directory(prefix: str, parent: str) -> str:
    """A fresh directory that only we may enter, also where the one around it gives rights to others."""
    path = tempfile.mkdtemp(prefix=prefix, dir=parent)
    forget_inherited_rights(path)
    return path


def make_file(prefix: str, parent: str) -> str:
    """A fresh file that only we may read, also where the directory around it gives rights to others."""
    handle, path = tempfile.mkstemp(prefix=prefix, dir=parent)
    os.close(handle)
    forget_inherited_rights(path)
    return path


def remove(path: str) -> None:
    """Remove a file or a whole tree; no error if it is not there, or not all of it can go."""
    if os.path.isdir(path) and not os.path.islink(path):
        clear_away(path)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)


def sync_directory(path: str) -> None:
    """Make the names in a directory durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def writing_to(destination: str) -> Iterator[None]:
    """Turn an OSError inside into a sentence about the destination."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FULL:
            raise NoSpace(f"{destination} cannot be written: {reason}", hint="free some space and try again") from error
        raise DestinationUnusable(f"{destination} cannot be written: {reason}") from error


def refuse_if_used(destination: str, find_user: Callable[[str], str | None]) -> None:
    """Raise DestinationUnusable if somebody has it open: they would go on with what is replaced, and lose it all."""
    with writing_to(destination):
        user = find_user(destination)
    if user is not None:
        raise DestinationUnusable(
            f"{destination} is in use by {user}",
            hint="stop that first, or force it if what it writes may be lost",
        )


@contextlib.contextmanager
def _parents(parent: str) -> Iterator[None]:
    made: list[str] = []
    missing = parent
    while not os.path.exists(missing):
        made.append(missing)
        missing = os.path.dirname(missing)
    os.makedirs(parent, exist_ok=True)
    try:
        yield
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                os.rmdir(path)
        raise
    for path in made:
        sync_directory(os.path.dirname(path))


def _clear_away(parent: str, prefix: str, *, older_than: float) -> None:
    for name in os.listdir(parent):
        path = os.path.join(parent, name)
        if not name.startswith(prefix):
            continue
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if os.fstat(handle).st_mtime < older_than or _holds_something(handle):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove(path)
            finally:
                os.close(handle)


def _holds_something(handle: int) -> bool:
    """It was locked before anything was written to it: without its lock, its owner is gone, however young it is."""
    found = os.fstat(handle)
    return bool(os.listdir(handle)) if stat.S_ISDIR(found.st_mode) else found.st_size > 0

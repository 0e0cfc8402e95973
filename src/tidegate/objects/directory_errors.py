"""What the operating system says about a directory store, in the words of the error tree."""

import contextlib
import errno
from collections.abc import Iterator

from tidegate.errors import NoSpace, StoreUnavailable, Unauthenticated

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


@contextlib.contextmanager
def translated(path: str, verb: str) -> Iterator[None]:
    """Turn an OSError inside into the error that says who must act; `verb` tells what was tried with `path`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FULL:
            raise NoSpace(f"could not {verb} {path}: {reason}", hint="free some space and try again") from error
        if error.errno in _FORBIDDEN:
            raise Unauthenticated(
                f"not allowed to {verb} {path}: {reason}", hint="check owner, permissions and mount options"
            ) from error
        raise StoreUnavailable(f"could not {verb} {path}: {reason}") from error

"""SQLite's errors in our words. Nobody outside of this package sees one of its own."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten

from tidegate.disk.sqlite_damage import means_damage
from tidegate.errors import AlreadyRunning, DamageError, DatabaseDamaged, NoSpace, TidegateError, UserError

# Extended codes tell more in the upper bits; the lowest eight are the kind of error.
_KIND_OF_ERROR = 0xFF
_LONGEST_WORDS = 160
WAY_BACK = (
    "Come back from a system backup: stop the server, move tidegate.db, tidegate.db-wal and tidegate.db-shm aside,"
    " start it, then `tidegate target create NAME URL` and `tidegate system restore create --from NAME`."
    " See docs/system-backups.md."
)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise our error in place of SQLite's; what is a bug of ours stays as it is."""
    try:
        yield
    except sqlite3.Error as error:
        ours = in_our_words(error, path)
        if ours is error:
            raise
        raise ours from error


def in_our_words(error: Exception, path: Path) -> Exception:
    """The error to show; the same one if it is a bug of ours."""
    if not isinstance(error, sqlite3.Error):
        return error
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _KIND_OF_ERROR
    if means_damage(error):
        return DatabaseDamaged(f"{path} is damaged: {in_one_line(str(error))}", hint=WAY_BACK)
    return _by_code(code, path, error) or error


def _by_code(code: int, path: Path, error: sqlite3.Error) -> TidegateError | None:
    match code:
        case sqlite3.SQLITE_FULL:
            return NoSpace(f"the disk of {path} is full; nothing was changed", hint="Make room, then try again.")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return AlreadyRunning(f"another process holds {path} locked", hint="Stop it, then try again.")
        case sqlite3.SQLITE_IOERR:
            return DamageError(f"the disk of {path} failed: {error}", hint="Look into the system's log.")
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return UserError(f"{path} cannot be opened for writing: {error}")
        case _:
            return None


def in_one_line(said: str) -> str:
    """What SQLite said, without the content of a whole row."""
    return shorten(said, _LONGEST_WORDS, placeholder=" ...")

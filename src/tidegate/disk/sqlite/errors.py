"""SQLite's errors in the words of `tidegate.errors`."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

from tidegate.errors import AlreadyRunning, DamageError, NoSpace, TidegateError, UserError

# Extended codes tell more in the upper bits; the lowest eight are the kind of error.
_KIND_OF_ERROR = 0xFF
# Changed bytes may still be a database: one whose tables are others, or whose texts are none.
_SPOILT = ("no such table", "no such column", "Could not decode to UTF-8")
_LONGEST_WORDS = 160


@dataclass(frozen=True)
class SqliteErrors:
    """Translates the errors of one file. Damage differs from file to file, because the way back does."""

    path: Path
    damaged: Callable[[str], TidegateError]
    """Makes the error for a damaged file from one sentence."""
    unreadable: tuple[type[Exception], ...] = ()
    """What parsing of a stored value raises: a value that cannot be understood is damage, too."""

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Raise our error in place of SQLite's; what is a bug of ours stays as it is."""
        try:
            yield
        except Exception as error:
            ours = self.in_our_words(error)
            if ours is error:
                raise
            raise ours from error

    def in_our_words(self, error: Exception) -> Exception:
        """Return the error to show; the same one if it is a bug of ours."""
        if isinstance(error, self.unreadable):
            return self.damaged(f"an entry of {self.path} is damaged")
        if not isinstance(error, sqlite3.Error):
            return error
        if means_damage(error):
            return self.damaged(f"{self.path} is damaged: {in_one_line(str(error))}")
        return self._by_code(error) or error

    def _by_code(self, error: sqlite3.Error) -> TidegateError | None:
        path = self.path
        match _code(error) & _KIND_OF_ERROR:
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


def means_damage(error: sqlite3.Error) -> bool:
    """Return whether trying again can only fail in the same way, because of what is in the file."""
    code = _code(error)
    if code & _KIND_OF_ERROR in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return True
    return code == sqlite3.SQLITE_IOERR_SHORT_READ or str(error).startswith(_SPOILT)


def in_one_line(said: str) -> str:
    """What SQLite said, without the content of a whole row."""
    return shorten(said, _LONGEST_WORDS, placeholder=" ...")


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)

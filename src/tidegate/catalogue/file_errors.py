"""What SQLite says of the catalogue's file, in our words."""

import sqlite3
from pathlib import Path

from tidegate.errors import DamageError, NoSpace


def in_our_words(error: Exception, path: Path) -> Exception:
    """The error itself where there is nothing better to say."""
    if not isinstance(error, sqlite3.DatabaseError):
        return error
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return NoSpace(f"the disk of {path} is full; nothing was changed", hint="Make room, then try again.")
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR}:
        return DamageError(
            f"{path} is damaged: {error}",
            hint="Stop the server, delete the file and start again: it is made anew from the stores.",
        )
    return error

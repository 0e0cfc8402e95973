"""Which of SQLite's errors mean that the file itself is damaged."""

import sqlite3

# Extended codes tell more in the upper bits; the lowest eight are the kind of error.
_KIND_OF_ERROR = 0xFF
# Changed bytes may still be a database: one whose tables are others, or whose texts are none.
_SPOILT = ("no such table", "no such column", "Could not decode to UTF-8")


def means_damage(error: sqlite3.Error) -> bool:
    """Return whether trying again can only fail in the same way, because of what is in the file."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code & _KIND_OF_ERROR in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return True
    return code == sqlite3.SQLITE_IOERR_SHORT_READ or str(error).startswith(_SPOILT)

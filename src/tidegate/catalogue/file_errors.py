"""What SQLite says of the catalogue's file, in our words."""

import json
import sqlite3
from pathlib import Path

from tidegate.disk.sqlite_damage import means_damage
from tidegate.errors import CatalogueDamaged, DamageError, NoSpace


def in_our_words(error: Exception, path: Path) -> Exception:
    """The error itself where there is nothing better to say."""
    if isinstance(error, json.JSONDecodeError) or (isinstance(error, sqlite3.Error) and means_damage(error)):
        return CatalogueDamaged(f"{path} is damaged: {error}", hint="It is made anew from the stores; ask again.")
    if not isinstance(error, sqlite3.DatabaseError):
        return error
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return NoSpace(f"the disk of {path} is full; nothing was changed", hint="Make room, then try again.")
    if code == sqlite3.SQLITE_IOERR:
        return DamageError(f"the disk of {path} failed: {error}", hint="Look into the system's log.")
    return error

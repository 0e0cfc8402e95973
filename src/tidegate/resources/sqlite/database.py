"""The file itself: owned, opened, brought up to date."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tidegate.disk.sqlite.connection import open_private
from tidegate.resources.sqlite.guard import DatabaseGuard
from tidegate.resources.sqlite.ownership import Ownership
from tidegate.resources.sqlite.schema import SCHEMA, errors_of, read_last_version


@dataclass(frozen=True)
class Database:
    """One database that this process owns, with the connection that writes to it."""

    path: Path
    ownership: Ownership
    connection: sqlite3.Connection
    last_version: int
    """The newest version that was ever given out when it was opened."""
    guard: DatabaseGuard

    @classmethod
    def open(cls, path: Path) -> Self:
        """Reads a few pages whatever the size of the file. After an error nothing is held."""
        ownership = Ownership(path)
        try:
            with errors_of(path).translated():
                guard = DatabaseGuard(path)

                def prepare(connection: sqlite3.Connection) -> None:
                    SCHEMA.migrate(connection, path)
                    guard.committed_version = read_last_version(connection)
                    guard.look_at_files()

                connection = open_private(path, prepare)
                return cls(path, ownership, connection, guard.committed_version, guard)
        except BaseException:
            ownership.release()
            raise

    def close(self) -> None:
        """The last connection folds the write-ahead log into the database; only then may another process have it."""
        try:
            self.connection.close()
        finally:
            self.ownership.release()

"""The version of a file's tables, and the way from an old one to the newest."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from tidegate.errors import UserError


@dataclass(frozen=True)
class Schema:
    """Step n leads from version n-1 to version n. A new file takes all of them. Steps are never changed, only added."""

    application_id: int
    """Tells this file from any other program's."""
    steps: tuple[str, ...]

    @property
    def version(self) -> int:
        """The newest version, which this program reads and writes."""
        return len(self.steps)

    def migrate(self, connection: sqlite3.Connection, path: Path) -> None:
        """Bring the tables up to date, all steps or none. Raise UserError for what is not ours or from the future."""
        version = self._checked_version(connection, path)
        if version == self.version:
            return
        missing = "".join(self.steps[version:])
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE; {missing}"
                f"PRAGMA application_id = {self.application_id}; PRAGMA user_version = {self.version}; COMMIT;"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _checked_version(self, connection: sqlite3.Connection, path: Path) -> int:
        application, version = identity_of(connection)
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if application != self.application_id and tables:
            raise UserError(f"{path} is a database of another program", hint="Choose another data directory.")
        if version > self.version:
            raise UserError(
                f"{path} was written by a newer Tidegate (schema {version}, this one knows {self.version})",
                hint="Upgrade Tidegate, or restore the data directory from before the upgrade.",
            )
        return version


def identity_of(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return whose file it is, and in which version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version

"""Whether the database is still the file that was opened, whole. What is found stays: nothing is believed after it."""

import os
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.disk.sqlite.errors import in_one_line
from tidegate.disk.sqlite.wal import is_log_header
from tidegate.errors import DatabaseDamaged
from tidegate.resources.sqlite.schema import WAY_BACK, errors_of, read_last_version


@dataclass
class DatabaseGuard:
    """Looks at one open database. May be used by several threads: the first damage that one of them notes remains.

    The database itself is only looked at and never opened: closing it would drop SQLite's locks on it.
    """

    path: Path
    damage: DatabaseDamaged | None = None
    in_doubt: bool = False
    """Whether the log became shorter. SQLite may have begun it anew, or it was cut: its content tells."""
    committed_version: int = 0
    """What the database is known to hold, as long as nothing sets it back."""
    _files: dict[Path, tuple[int, int]] = field(default_factory=dict)
    _size: int = 0
    _log_size: int = 0
    _log_was_whole: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether nothing speaks against it."""
        return self.damage is None and not self.in_doubt

    @property
    def log(self) -> Path:
        """The write-ahead log: what was committed last is only there."""
        return self.path.with_name(f"{self.path.name}-wal")

    def note(self, error: Exception) -> None:
        """Remember an error that means damage."""
        if isinstance(error, DatabaseDamaged) and self.damage is None:
            self.damage = error

    def check(self) -> None:
        """Raise DatabaseDamaged once any was noted."""
        if self.damage is not None:
            raise self.damage

    def look_at_files(self) -> None:
        """Note whether one of the files is gone, is another one, or has lost its end or its beginning."""
        for path, needed in ((self.path, True), (self.log, False)):
            found = _status(path)
            known = self._files.get(path)
            if found is None:
                if known is not None or needed:
                    self._damaged(f"{path} is gone while the server runs")
                continue
            identity = (found.st_dev, found.st_ino)
            if self._files.setdefault(path, identity) != identity:
                self._damaged(f"{path} was replaced by another file while the server runs")
        size = getattr(_status(self.path), "st_size", 0)
        if size < self._size:
            self._damaged(f"{self.path} was cut from {self._size} to {size} bytes while the server runs")
        self._size = max(self._size, size)
        self._look_at_log()

    def log_begun_anew(self) -> None:
        """Our own writer has shortened the log."""
        self._log_size = 0

    def _look_at_log(self) -> None:
        size = getattr(_status(self.log), "st_size", 0)
        self.in_doubt |= size < self._log_size
        self._log_size = size
        header = is_log_header(self.log)
        # After a crash there may be half of one, until the first write. One that was whole stays so.
        if header is False and self._log_was_whole:
            self._damaged(f"{self.log} was changed while the server runs: its beginning is none of SQLite's")
        self._log_was_whole |= header is True

    def changed_at(self) -> int:
        """Return when the database file itself was last written to; 0 if it is gone."""
        return getattr(_status(self.path), "st_mtime_ns", 0)

    def look_at_content(self) -> None:
        """Note what SQLite's own check of every page says. Takes seconds for a large file; writers go on."""
        if self.damage is not None:
            return
        least = self.committed_version
        self.in_doubt = False
        try:
            # Not through `connect`: this one only reads, and must make no file where there is none.
            connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            try:
                (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                version = read_last_version(connection) if said == "ok" else least
            finally:
                connection.close()
        except sqlite3.Error as error:
            self.note(errors_of(self.path).in_our_words(error))
            return
        if said != "ok":
            self._damaged(f"{self.path} is damaged: {in_one_line(said)}")
        elif version < least:
            self._damaged(f"{self.path} was set back from version {least} to {version} while the server runs")

    def _damaged(self, sentence: str) -> None:
        self.note(DatabaseDamaged(sentence, hint=WAY_BACK))


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None

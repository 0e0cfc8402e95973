"""Whether the database is still the file that was opened, whole. What is found stays: nothing is believed after it."""

import os
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.errors import DatabaseDamaged
from tidegate.resources.sqlite.errors import WAY_BACK, in_our_words


@dataclass
class DatabaseGuard:
    """Looks at one open database. May be used by several threads: the first damage that one of them notes remains.

    Files are only looked at and never opened: closing one would drop SQLite's locks on it.
    """

    path: Path
    damage: DatabaseDamaged | None = None
    _files: dict[Path, tuple[int, int]] = field(default_factory=dict)
    _size: int = 0

    def note(self, error: Exception) -> None:
        """Remember an error that means damage."""
        if isinstance(error, DatabaseDamaged) and self.damage is None:
            self.damage = error

    def check(self) -> None:
        """Raise DatabaseDamaged once any was noted."""
        if self.damage is not None:
            raise self.damage

    def look_at_files(self) -> None:
        """Note whether one of the files is gone, is another one or has lost its end. Costs no read."""
        for path, needed in ((self.path, True), (self.path.with_name(f"{self.path.name}-wal"), False)):
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

    def changed_at(self) -> int:
        """Return when the database file itself was last written to; 0 if it is gone."""
        return getattr(_status(self.path), "st_mtime_ns", 0)

    def look_at_content(self) -> None:
        """Note what SQLite's own check of every page says. Takes seconds for a large file; writers go on."""
        if self.damage is not None:
            return
        try:
            # Not through `connect`: this one only reads, and must make no file where there is none.
            connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            try:
                (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            finally:
                connection.close()
        except sqlite3.Error as error:
            self.note(in_our_words(error, self.path))
            return
        if said != "ok":
            self._damaged(f"{self.path} is damaged: {said}")

    def _damaged(self, sentence: str) -> None:
        self.note(DatabaseDamaged(sentence, hint=WAY_BACK))


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None

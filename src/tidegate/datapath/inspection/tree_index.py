"""The manifest of one backup's tree, put in order once, so that any directory of it is told at once."""

import sqlite3
import threading
from collections.abc import Iterable
from typing import NamedTuple

from tidegate.datapath.inspection.browse import MOST_LINKS
from tidegate.errors import DamagedMetadata, NotFound, Refused
from tidegate.format.trees.entry import ROOT_PATH, EntryType, TreeEntry

# Lines were checked against the end of the contents when they came from the store.
_CHECKED = 2**63 - 1
_SCHEMA = """
CREATE TABLE entry (parent BLOB, leaf INTEGER, name BLOB, line BLOB, PRIMARY KEY (parent, leaf, name)) WITHOUT ROWID
"""


class Marker(NamedTuple):
    """The entry that a page ended with; the first page comes behind one that sorts before all."""

    leaf: int = 0
    name: bytes = b""


class TreeIndex:
    """The entries of one tree by directory. May be asked by several threads.

    It is kept in a file of SQLite's own that has no name, so a million entries take room on the disk and not in memory,
    and are gone with this object, or with the process.
    """

    def __init__(self, entries: Iterable[TreeEntry]) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute(_SCHEMA)
        self._database.execute("BEGIN")
        try:
            self._database.executemany("INSERT INTO entry VALUES (?, ?, ?, ?)", map(_row, entries))
        except sqlite3.IntegrityError:
            raise DamagedMetadata("the tree's manifest has a path twice") from None
        self._database.execute("COMMIT")

    def __del__(self) -> None:
        self._database.close()

    def children(self, path: str, *, after: Marker, limit: int) -> list[TreeEntry]:
        """At most so many entries right in this directory: directories first, by name.

        Raises NotFound if there is no such path, Refused if it is no directory.
        """
        if (found := self.find(path)).type is not EntryType.DIRECTORY:
            raise Refused(f"{path!r} is a {found.type}, not a directory")
        rows = self._ask(
            "SELECT line FROM entry WHERE parent = ? AND (leaf, name) > (?, ?) ORDER BY leaf, name LIMIT ?",
            (_bytes(path), *after, limit),
        )
        return [_entry(line) for (line,) in rows]

    def find(self, path: str) -> TreeEntry:
        """What is at this path; raises NotFound."""
        parent, _, name = path.rpartition("/")
        rows = self._ask(
            "SELECT line FROM entry WHERE parent = ? AND leaf IN (0, 1) AND name = ?",
            (b"" if path == ROOT_PATH else _bytes(parent or ROOT_PATH), _bytes(name)),
        )
        if not rows:
            raise NotFound(f"there is no {path!r} in the backup")
        return _entry(rows[0][0])

    def file(self, path: str) -> TreeEntry:
        """The file at this path, also by a hard link; raises NotFound, or Refused if it is no file."""
        at = path
        for _ in range(MOST_LINKS):
            entry = self.find(at)
            if entry.type is EntryType.FILE:
                return entry
            if entry.type is not EntryType.HARD_LINK:
                raise Refused(f"{path!r} is a {entry.type}, not a file")
            at = entry.target
        raise Refused(f"{path!r} is linked in a circle")

    def _ask(self, query: str, values: tuple[object, ...]) -> list[tuple[bytes]]:
        with self._lock:
            return self._database.execute(query, values).fetchall()


def marker_of(entry: TreeEntry) -> Marker:
    """The place of this entry in its directory."""
    return Marker(int(entry.type is not EntryType.DIRECTORY), _bytes(entry.name))


def _row(entry: TreeEntry) -> tuple[bytes, int, bytes, bytes]:
    parent = b"" if entry.path == ROOT_PATH else _bytes(entry.parent)
    return (parent, *marker_of(entry), entry.encode())


def _entry(line: bytes) -> TreeEntry:
    return TreeEntry.decode(line, content_end=_CHECKED)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

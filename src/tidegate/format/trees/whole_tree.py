"""What a restore demands of a manifest beyond each of its lines: no path twice, and no link to what is not there.

The decoder leaves both to the restore, which makes each path anew. Who only looks must ask.
"""

import hashlib

from tidegate.errors import DamagedMetadata
from tidegate.format.trees.entry import EntryType
from tidegate.format.trees.packed_reader import Entries
from tidegate.format.trees.shown_path import shown_path

_DIGEST_BYTES = 16


def check_whole(entries: Entries) -> None:
    """Raise DamagedMetadata unless a restore can make every entry. Walks the manifest twice if there are hard links."""
    linked: set[bytes] = set()
    in_order = _Order()
    for entry in entries():
        in_order.see(entry.parent, entry.name)
        if entry.type is EntryType.HARD_LINK:
            linked.add(_digest(entry.target))
    if not in_order.proves:
        _refuse_twins(entries)
    if linked:
        _refuse_loose_links(entries, linked)


class _Order:
    """Sees that no path comes twice, without keeping them: a backup lists each directory once, sorted by name."""

    def __init__(self) -> None:
        self._directory, self._last = "", ""
        self._listed: set[bytes] = set()
        self.proves = True
        """Whether the order alone is a proof."""

    def see(self, directory: str, name: str) -> None:
        if directory == self._directory:
            self.proves &= name > self._last
        else:
            self._listed.add(_digest(self._directory))
            self._directory = directory
            self.proves &= _digest(directory) not in self._listed
        self._last = name


def _refuse_twins(entries: Entries) -> None:
    seen: set[bytes] = set()
    for entry in entries():
        path = _digest(entry.path)
        if path in seen:
            raise DamagedMetadata(f"the tree's manifest has {shown_path(entry.path)!r} twice")
        seen.add(path)


def _refuse_loose_links(entries: Entries, linked: set[bytes]) -> None:
    """A link is made after all files and after the links before it."""
    missing = set(linked)
    for entry in entries():
        if entry.type is not EntryType.DIRECTORY and entry.type is not EntryType.HARD_LINK:
            missing.discard(_digest(entry.path))
    for entry in entries():
        if entry.type is not EntryType.HARD_LINK:
            continue
        if _digest(entry.target) in missing:
            raise DamagedMetadata(f"the tree's manifest links {shown_path(entry.path)!r} to a file that does not exist")
        missing.discard(_digest(entry.path))


def _digest(path: str) -> bytes:
    return hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=_DIGEST_BYTES).digest()

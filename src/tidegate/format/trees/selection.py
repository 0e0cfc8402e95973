"""Which entries of a tree come back when only some were asked for."""

from collections.abc import Iterator
from dataclasses import replace

from tidegate.format.trees.entry import ROOT_PATH, EntryType, TreeEntry
from tidegate.format.trees.globs import TreeGlobs
from tidegate.format.trees.packed_reader import Entries
from tidegate.format.trees.path_key import path_key


def selected_entries(entries: Entries, globs: TreeGlobs) -> Iterator[TreeEntry]:
    """Everything that the globs cover and the directories on the way there, still parents before children.

    A hard link whose file was not asked for becomes that file; a second one to the same file links to the first.
    The manifest is walked twice, so that nothing is kept but directories and such files.
    """
    stand_ins = _files_behind_links(entries, globs)
    waiting: dict[str | bytes, TreeEntry] = {}
    chosen = _Chosen(globs)
    for entry in entries():
        covered = chosen.see(entry)
        if entry.path in stand_ins and not covered:
            stand_ins[entry.path] = entry
        if entry.path == ROOT_PATH:
            yield entry
        elif covered:
            yield from _directories_on_the_way(entry, waiting)
            yield _without_missing_target(entry, stand_ins)
        elif entry.type is EntryType.DIRECTORY:
            waiting[path_key(entry.path)] = entry


def _files_behind_links(entries: Entries, globs: TreeGlobs) -> dict[str, TreeEntry | None]:
    chosen = _Chosen(globs)
    return {
        entry.target: None
        for entry in entries()
        if chosen.see(entry) and entry.type is EntryType.HARD_LINK and not chosen.cover(entry.target)
    }


class _Chosen:
    """What the globs cover, known from the directory above: to ask them about all of a long way takes long."""

    def __init__(self, globs: TreeGlobs) -> None:
        self._globs = globs
        self._directories: set[str | bytes] = set()

    def see(self, entry: TreeEntry) -> bool:
        """Whether they cover it. Entries come as in the manifest, parents before children."""
        covered = self.cover(entry.path)
        if covered and entry.type is EntryType.DIRECTORY and entry.path != ROOT_PATH:
            self._directories.add(path_key(entry.path))
        return covered

    def cover(self, path: str) -> bool:
        """The same of a path of which the directory was seen."""
        return path_key(path.rpartition("/")[0]) in self._directories or self._globs.match(path)


def _directories_on_the_way(entry: TreeEntry, waiting: dict[str | bytes, TreeEntry]) -> Iterator[TreeEntry]:
    """Those that were not told yet; above one that was, all were."""
    way: list[TreeEntry] = []
    while (directory := waiting.pop(path_key((way[-1] if way else entry).parent), None)) is not None:
        way.append(directory)
    yield from reversed(way)


def _without_missing_target(entry: TreeEntry, stand_ins: dict[str, TreeEntry | None]) -> TreeEntry:
    file = stand_ins.get(entry.target) if entry.type is EntryType.HARD_LINK else None
    if file is None:
        return entry
    if file.type is EntryType.HARD_LINK:  # an earlier link took the file's place
        return replace(entry, target=file.path)
    stand_ins[entry.target] = replace(entry, target=entry.path)
    return replace(file, path=entry.path)

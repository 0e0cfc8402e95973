"""Which entries of a tree come back when only some were asked for."""

from collections.abc import Iterator
from dataclasses import replace

from tidegate.format.packed_reader import Entries
from tidegate.format.tree_entry import ROOT_PATH, EntryType, TreeEntry
from tidegate.format.tree_globs import TreeGlobs


def selected_entries(entries: Entries, globs: TreeGlobs) -> Iterator[TreeEntry]:
    """Everything that the globs cover and the directories on the way there, still parents before children.

    A hard link whose file was not asked for becomes that file; a second one to the same file links to the first.
    The manifest is walked twice, so that nothing is kept but directories and such files.
    """
    stand_ins = _files_behind_links(entries, globs)
    waiting: dict[str, TreeEntry] = {}
    for entry in entries():
        covered = globs.cover(entry.path)
        if entry.path in stand_ins and not covered:
            stand_ins[entry.path] = entry
        if entry.path == ROOT_PATH:
            yield entry
        elif covered:
            yield from _directories_on_the_way(entry, waiting)
            yield _without_missing_target(entry, stand_ins)
        elif entry.type is EntryType.DIRECTORY:
            waiting[entry.path] = entry


def _files_behind_links(entries: Entries, globs: TreeGlobs) -> dict[str, TreeEntry | None]:
    return {
        entry.target: None
        for entry in entries()
        if entry.type is EntryType.HARD_LINK and globs.cover(entry.path) and not globs.cover(entry.target)
    }


def _directories_on_the_way(entry: TreeEntry, waiting: dict[str, TreeEntry]) -> Iterator[TreeEntry]:
    parts = entry.path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        directory = waiting.pop("/".join(parts[:depth]), None)
        if directory is not None:
            yield directory


def _without_missing_target(entry: TreeEntry, stand_ins: dict[str, TreeEntry | None]) -> TreeEntry:
    file = stand_ins.get(entry.target) if entry.type is EntryType.HARD_LINK else None
    if file is None:
        return entry
    if file.type is EntryType.HARD_LINK:  # an earlier link took the file's place
        return replace(entry, target=file.path)
    stand_ins[entry.target] = replace(entry, target=entry.path)
    return replace(file, path=entry.path)

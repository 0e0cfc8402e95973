"""Looking into backups without restoring them: the paths of a tree, one file's bytes, what two backups differ in."""

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidegate.datapath.downloads.download import StoredContent, open_backup
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import NotFound, Refused
from tidegate.format.trees.entry import ROOT_PATH, EntryType, TreeEntry
from tidegate.format.trees.packed_reader import Entries, ImageBytes, file_bytes, read_manifest
from tidegate.format.trees.packed_tree import TreeMark

# A chain of hard links that is longer than this is no chain but a circle.
MOST_LINKS = 40


@dataclass(frozen=True)
class StoredTree:
    """The file tree in one backup. Only the blocks that hold what is asked for are read."""

    entries: Entries
    image: ImageBytes

    def below(self, path: str, *, recursive: bool) -> Iterator[TreeEntry]:
        """What lies in the directory `path`, right there or at any depth; a file is told itself.

        Raises NotFound if there is no such path.
        """
        wanted = path.strip("/") or ROOT_PATH
        found = False
        for entry in self.entries():
            if entry.path == wanted:
                found = True
                if entry.type is not EntryType.DIRECTORY:
                    yield entry
            elif found and _is_below(entry, wanted, recursive=recursive):
                yield entry
        if not found:
            raise NotFound(f"there is no {wanted!r} in the backup")

    def content(self, path: str) -> Iterator[bytes]:
        """The bytes of one file, in pieces. Raises NotFound, or Refused if it is no file."""
        entry = self._find(path.strip("/"))
        if entry.type is not EntryType.FILE:
            raise Refused(f"{path!r} is a {entry.type}, not a file")
        return file_bytes(entry, self.image)

    def _find(self, path: str) -> TreeEntry:
        for _ in range(MOST_LINKS):
            entry = next((one for one in self.entries() if one.path == path), None)
            if entry is None:
                raise NotFound(f"there is no {path!r} in the backup")
            if entry.type is not EntryType.HARD_LINK:
                return entry
            path = entry.target
        raise Refused(f"{path!r} is linked in a circle")


@contextlib.contextmanager
def open_tree(volume: StoredVolume, backup: str) -> Iterator[StoredTree]:
    """The tree in a finished backup; raises Refused if it holds an image."""
    with open_backup(volume, backup) as content, tempfile.TemporaryFile() as spool:
        image = ImageBytes(content)
        yield StoredTree(read_manifest(image, mark_of(content, backup), spool), image)


def mark_of(content: StoredContent, backup: str) -> TreeMark:
    """Where the tree's manifest is; raises Refused if the backup holds an image."""
    mark = TreeMark.of(content.cfg_parameters, image_size=content.size)
    if mark is None:
        raise Refused(f"backup {backup} holds an image, not a file tree", hint="restore it, and mount the image")
    return mark


def _is_below(entry: TreeEntry, directory: str, *, recursive: bool) -> bool:
    if entry.path == ROOT_PATH:
        return False
    if not recursive:
        return entry.parent == directory
    return directory == ROOT_PATH or entry.path.startswith(f"{directory}/")


@dataclass(frozen=True)
class Change:
    """One path, or one range of an image, in which two backups differ. `sign` is one of + - M."""

    sign: str
    path: str
    what: str = ""


def tree_changes(earlier: StoredTree, later: StoredTree) -> Iterator[Change]:
    """What is new, changed and gone. Contents count as equal when size and time are, as for an incremental backup."""
    before = {entry.path: _facts(entry) for entry in earlier.entries()}
    for entry in later.entries():
        old = before.pop(entry.path, None)
        if old is None:
            yield Change("+", entry.path)
        elif what := ", ".join(name for name, value in _facts(entry).items() if old.get(name) != value):
            yield Change("M", entry.path, what)
    for path in before:
        yield Change("-", path)


def _facts(entry: TreeEntry) -> dict[str, object]:
    plain = replace(entry, extents=(), xattrs={})
    facts: dict[str, object] = {"type": plain.type, "mode": plain.mode, "owner": (plain.uid, plain.gid)}
    if plain.type is not EntryType.DIRECTORY:  # its time and size follow from what is in it
        facts |= {"size": plain.size, "time": plain.mtime_ns, "target": plain.target}
    if entry.xattrs:
        facts["attributes"] = tuple(sorted(entry.xattrs.items()))
    return facts


def image_changes(volume: StoredVolume, earlier: str, later: str) -> Iterator[Change]:
    """Ranges in which two images differ, by their blocks; neighbours are told as one range."""
    with open_backup(volume, earlier) as before, open_backup(volume, later, onto=earlier) as after:
        same = after.kept or frozenset()
        offsets = sorted({*before.without_zeros(), *after.without_zeros()} - same)
        begin = end = -1
        for offset in offsets:
            if offset != end:
                if end > begin:
                    yield Change("M", f"{begin}-{end - 1}", f"{end - begin} bytes")
                begin = offset
            end = offset + after.block_size
        if end > begin:
            yield Change("M", f"{begin}-{end - 1}", f"{end - begin} bytes")

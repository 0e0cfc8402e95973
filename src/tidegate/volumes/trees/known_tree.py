"""The files of a tree's last backup, to be met again in the order of a walk."""

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, NamedTuple

from tidegate.errors import DamagedBlock, DamagedMetadata, MissingBlock
from tidegate.format.trees.entry import ROOT_PATH, EntryType, Extent, TreeEntry
from tidegate.format.trees.manifest import split_lines
from tidegate.format.trees.packed_reader import ImageBytes, read_manifest
from tidegate.format.trees.packed_tree import TreeMark
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.trees.file_identity import Identity

_PIECE = 1024 * 1024


class KnownFile(NamedTuple):
    """A regular file as the last backup has it."""

    parent: str
    name: str
    identity: Identity
    extents: Sequence[Extent]
    """As in the manifest: offset in the image, length, offset in the file."""
    xattrs: Mapping[str, bytes]
    line: bytes
    """Of the manifest, without its end. As long as the identity is the same, every word of it is still true."""


class KnownTree:
    """Tells for each file of a walk what the last backup has of it. Asked once, in the order of the walk.

    Both sides come in the same order: directories by the names on the way to them, then names. So one pass over the
    last manifest is enough, and nothing of it is kept in memory. A manifest in another order only finds less.
    """

    def __init__(self, files: Iterator[KnownFile], *, content_end: int, lacks_attributes: bool = False) -> None:
        self.content_end = content_end
        """Where the contents of its image end."""
        self.lacks_attributes = lacks_attributes
        """Whether the last backup could not read all extended attributes."""
        self._files = files
        self._directory = ROOT_PATH
        self._next = next(files, None)

    def enter(self, directory: str) -> None:
        """The walk goes on with what lies in this directory."""
        self._directory = directory
        place = _place(directory)
        while self._next is not None and self._next.parent != directory and _place(self._next.parent) < place:
            self._next = next(self._files, None)

    def find(self, name: str) -> KnownFile | None:
        """The file of this name in the directory that was entered last; names come in ascending order."""
        while self._next is not None and self._next.parent == self._directory and self._next.name < name:
            self._next = next(self._files, None)
        known = self._next
        return known if known and known.name == name and known.parent == self._directory else None


def nothing_known() -> KnownTree:
    """For a volume that has no backup to build on."""
    return KnownTree(iter(()), content_end=0)


def known_tree(base: BackupContent | None, spool: IO[bytes]) -> KnownTree:
    """What the last backup knows: nothing if it holds no tree, or one that is damaged, for then all is read again.

    All of its manifest is in `spool` when this returns.
    """
    if base is None:
        return nothing_known()
    try:
        mark = TreeMark.of(base.cfg_parameters, image_size=base.size)
        if mark is None:
            return nothing_known()
        read_manifest(ImageBytes(base), mark, spool)
    except (DamagedMetadata, DamagedBlock, MissingBlock):
        return nothing_known()
    return KnownTree(
        _known_files(spool, mark), content_end=mark.manifest_offset, lacks_attributes=mark.attributes_incomplete
    )


def _known_files(spool: IO[bytes], mark: TreeMark) -> Iterator[KnownFile]:
    """Files that can be told unchanged by their times. Ends at a line that a restore could not read."""
    spool.seek(0)
    try:
        for line in split_lines(iter(lambda: spool.read(_PIECE), b"")):
            entry = TreeEntry.decode(line, content_end=mark.manifest_offset)
            if entry.type is EntryType.FILE and entry.ctime_ns < mark.settled_before_ns:
                identity = (entry.size, entry.mtime_ns, entry.ctime_ns, entry.inode)
                yield KnownFile(entry.parent, entry.name, identity, entry.extents, entry.xattrs, line)
    except DamagedMetadata:
        return


def _place(directory: str) -> list[str]:
    """Directories come in the order of these."""
    return [] if directory == ROOT_PATH else directory.split("/")

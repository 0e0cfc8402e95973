"""The manifest of a tree: its entries in order, parents before children, read one line at a time.

Empty lines mean nothing. A writer may put runs of them between entries, so that what follows begins on a block.
"""

import re
from collections.abc import Iterable, Iterator

from tidegate.errors import DamagedMetadata
from tidegate.format.trees.entry import LONGEST_LINE, ROOT_PATH, EntryType, TreeEntry
from tidegate.format.trees.path_key import path_key
from tidegate.format.trees.shown_path import shown_path

_EMPTY_LINES = re.compile(rb"\n\n+")


def split_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines in a stream that comes in pieces, but for the empty ones.

    Raises DamagedMetadata for one that is too long or has no end.
    """
    rest = b""
    for piece in pieces:
        # A megabyte of line ends is one match, but would be a million lines.
        whole = rest + (_EMPTY_LINES.sub(b"\n", piece) if b"\n\n" in piece else piece)
        *lines, rest = whole.split(b"\n")
        yield from filter(None, lines)
        if len(rest) > LONGEST_LINE:
            raise DamagedMetadata("the tree's manifest has a line without end")
    if rest:
        raise DamagedMetadata("the tree's manifest ends in the middle of a line")


def decode_manifest(lines: Iterable[bytes], *, content_end: int) -> Iterator[TreeEntry]:
    """The entries, the root first. Raises DamagedMetadata before it yields one that could lead out of the tree.

    An entry is yielded only when its parent was, as a directory: so nothing is ever below a symlink or a file. That a
    path comes once is left to the writer, who creates each path anew: a million names need not be kept here.
    """
    directories: set[str | bytes] = set()
    for line in filter(None, lines):
        entry = TreeEntry.decode(line, content_end=content_end)
        is_root = entry.path == ROOT_PATH
        if is_root != (not directories) or (is_root and entry.type is not EntryType.DIRECTORY):
            raise DamagedMetadata("the tree's manifest does not begin with its root directory")
        if not is_root and path_key(entry.parent) not in directories:
            raise DamagedMetadata(f"the tree's manifest has {shown_path(entry.path)!r} before or without its directory")
        if entry.type is EntryType.DIRECTORY:
            if (kept := path_key(entry.path)) in directories:
                raise DamagedMetadata(f"the tree's manifest has {shown_path(entry.path)!r} twice")
            directories.add(kept)
        if entry.type is EntryType.HARD_LINK and path_key(_parent(entry.target)) not in directories:
            raise DamagedMetadata(f"the tree's manifest links {shown_path(entry.path)!r} to a file that does not exist")
        yield entry
    if not directories:
        raise DamagedMetadata("the tree's manifest is empty")


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or ROOT_PATH

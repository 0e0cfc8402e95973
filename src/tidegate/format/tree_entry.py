"""One line of a tree's manifest: a path, what it is, and where its bytes lie in the image.

A line is ASCII JSON. Names are whatever bytes the file system allows; those that are not UTF-8 travel as the lone
surrogates that Python's file functions use for them, so they come back byte for byte.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from json.encoder import encode_basestring_ascii as _quoted
from typing import NamedTuple

from tidegate.errors import DamagedMetadata

ROOT_PATH = "."
LONGEST_LINE = 16 * 1024 * 1024
MOST_EXTENTS = 8192
_LONGEST_PATH = 1024 * 1024
_LARGEST_ID = 2**32 - 1
_LARGEST_INT64 = 2**63 - 1
_LARGEST_UINT64 = 2**64 - 1
_MODE_BITS = 0o7777


class EntryType(StrEnum):
    """What a path can be. Sockets and devices are not backed up."""

    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    HARD_LINK = "hardlink"
    FIFO = "fifo"


class Extent(NamedTuple):
    """Where one run of a file's bytes lies. What no extent covers is a hole."""

    image_offset: int
    length: int
    file_offset: int


@dataclass(frozen=True, kw_only=True)
class TreeEntry:
    """One path of the tree. `target` is a symlink's text, or the path that a hard link shares its file with."""

    path: str
    type: EntryType
    mode: int = 0
    uid: int = 0
    gid: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    inode: int = 0
    """With the times: whether a file is still what it was. Of no use to a restore."""
    size: int = 0
    extents: tuple[Extent, ...] = ()
    target: str = ""
    xattrs: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def parent(self) -> str:
        """The path of the directory that it lies in; the root's is the root."""
        return self.path.rpartition("/")[0] or ROOT_PATH

    @property
    def name(self) -> str:
        """The last component."""
        return self.path.rpartition("/")[2]

    def encode(self, extents: Sequence[Extent] | None = None) -> bytes:
        """The line, with its end; with these extents, if they are known only now.

        Put together by hand: a dictionary and `json.dumps` would take four times as long, for each of a million files.
        """
        places = self.extents if extents is None else extents
        line = (
            f'{{"path":{_quoted(self.path)},"type":"{self.type.value}","mode":{self.mode},'
            f'"uid":{self.uid},"gid":{self.gid},"mtime_ns":{self.mtime_ns}'
        )
        if self.type is EntryType.FILE:
            runs = ",".join([f"[{offset},{length},{begin}]" for offset, length, begin in places])
            line += f',"ctime_ns":{self.ctime_ns},"inode":{self.inode},"size":{self.size},"extents":[{runs}]'
        if self.target:
            line += f',"target":{_quoted(self.target)}'
        if self.xattrs:
            encoded = {name: base64.b64encode(self.xattrs[name]).decode() for name in sorted(self.xattrs)}
            line += f',"xattrs":{json.dumps(encoded, separators=(",", ":"))}'
        return (line + "}\n").encode("ascii")

    @classmethod
    def decode(cls, line: bytes, *, content_end: int) -> "TreeEntry":
        """What a line says. Extents must lie before `content_end`; raises DamagedMetadata for anything odd."""
        try:
            value = json.loads(line)
            if not isinstance(value, dict):
                raise TypeError("it is no object")  # noqa: TRY301  one handler for all that can be wrong with a line
            entry = cls(
                path=_text(value, "path", longest=_LONGEST_PATH),
                type=EntryType(str(value.get("type"))),
                mode=_number(value, "mode", most=_MODE_BITS),
                uid=_number(value, "uid", most=_LARGEST_ID),
                gid=_number(value, "gid", most=_LARGEST_ID),
                mtime_ns=_number(value, "mtime_ns", least=-_LARGEST_INT64),
                ctime_ns=_number(value, "ctime_ns", least=-_LARGEST_INT64),
                inode=_number(value, "inode", most=_LARGEST_UINT64),
                size=_number(value, "size"),
                extents=tuple(Extent(*map(_whole, extent)) for extent in value.get("extents", [])),
                target=_text(value, "target", longest=_LONGEST_PATH),
                xattrs={name: base64.b64decode(text, validate=True) for name, text in value.get("xattrs", {}).items()},
            )
            entry._check(content_end)
        except (ValueError, TypeError, AttributeError, RecursionError, binascii.Error) as error:
            raise DamagedMetadata(f"the tree's manifest has a wrong line {line[:80]!r}: {error}") from error
        return entry

    def _check(self, content_end: int) -> None:
        check_path(self.path)
        if self.type is EntryType.HARD_LINK:
            check_path(self.target)
            if self.target == ROOT_PATH:
                raise ValueError("a directory cannot be linked")
        if (self.type is EntryType.SYMLINK) != bool(self.target) and self.type is not EntryType.HARD_LINK:
            raise ValueError("a symlink, and nothing else, has a target")
        if any("\0" in name for name in (self.target, *self.xattrs)):
            raise ValueError("no name holds a NUL")
        for name in self.xattrs:
            name.encode("utf-8", "surrogateescape")
        if len(self.extents) > MOST_EXTENTS or (self.extents and self.type is not EntryType.FILE):
            raise ValueError("too many extents")
        self._check_extents(content_end)

    def _check_extents(self, content_end: int) -> None:
        written = 0
        for extent in self.extents:
            if extent.length == 0 or extent.image_offset + extent.length > content_end:
                raise ValueError("an extent lies outside of the contents")
            if extent.file_offset < written:
                raise ValueError("extents overlap")
            written = extent.file_offset + extent.length
        if written > self.size:
            raise ValueError("an extent lies behind the end of the file")


def check_path(path: str) -> None:
    """Raise ValueError unless `path` is relative and stays below its root whatever lies there."""
    if path == ROOT_PATH:
        return
    if "\0" in path or any(part in {"", ".", ".."} for part in path.split("/")):
        raise ValueError("its path leads out of the tree")


def _text(line: Mapping[str, object], name: str, *, longest: int) -> str:
    value = line.get(name, "")
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError(f"{name} should be text")
    # A surrogate that stands for no byte, or half a pair, cannot be a file name.
    value.encode("utf-8", "surrogateescape")
    return value


def _number(line: Mapping[str, object], name: str, *, least: int = 0, most: int = _LARGEST_INT64) -> int:
    return _whole(line.get(name, 0), least=least, most=most)


def _whole(value: object, *, least: int = 0, most: int = _LARGEST_INT64) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{value!r} should be a whole number")
    return value

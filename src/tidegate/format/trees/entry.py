"""One line of a tree's manifest: a path, what it is, and where its bytes lie in the image.

A line is ASCII JSON. Names are whatever bytes the file system allows; those that are not UTF-8 travel as the lone
surrogates that Python's file functions use for them, so they come back byte for byte. Each field takes every value that
the operating system can tell of a file: what a backup writes, a restore reads.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, NamedTuple

from tidegate.errors import DamagedMetadata

ROOT_PATH = "."
LONGEST_LINE = 16 * 1024 * 1024
MOST_EXTENTS = 8192
LONGEST_PATH = 1024 * 1024
"""Characters of a path that is backed up. With escapes, and twice in a hard link, it still fits into a line."""
_LARGEST_ID = 2**32 - 1
_LARGEST_INT64 = 2**63 - 1
_LARGEST_UINT64 = 2**64 - 1
# Seconds of 64 bits: the kernel's own. Some file systems keep all of them.
_EARLIEST_NS, _LATEST_NS = -(2**63) * 10**9, 2**63 * 10**9 - 1
_MODE_BITS = 0o7777
_OUT_OF_TREE = frozenset({"", ".", ".."})
_JSON = json.JSONDecoder()


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

    def part(self, bytes_of_it: range) -> "TreeEntry":
        """The file as if it held these bytes only."""
        begin, end = bytes_of_it.start, bytes_of_it.stop
        within = [
            Extent(one.image_offset + max(0, begin - one.file_offset), until - since, since - begin)
            for one in self.extents
            if (until := min(end, one.file_offset + one.length)) > (since := max(begin, one.file_offset))
        ]
        return replace(self, size=len(bytes_of_it), extents=tuple(within))

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
        return _usual_file(line, content_end) or cls._decode(line, content_end)

    @classmethod
    def _decode(cls, line: bytes, content_end: int) -> "TreeEntry":
        try:
            value = _JSON.decode(line.decode("utf-8"))
            if type(value) is not dict:
                raise TypeError("it is no object")  # noqa: TRY301  one handler for all that can be wrong with a line
            get, entry = value.get, object.__new__(cls)
            # Set at once and not one by one: a restore reads a million lines, and half of its time would go there.
            entry.__dict__.update(
                path=_text(get("path", "")),
                type=_type(get("type")),
                mode=_whole(get("mode", 0), 0, _MODE_BITS),
                uid=_whole(get("uid", 0), 0, _LARGEST_ID),
                gid=_whole(get("gid", 0), 0, _LARGEST_ID),
                mtime_ns=_whole(get("mtime_ns", 0), _EARLIEST_NS, _LATEST_NS),
                ctime_ns=_whole(get("ctime_ns", 0), _EARLIEST_NS, _LATEST_NS),
                inode=_whole(get("inode", 0), 0, _LARGEST_UINT64),
                size=_whole(get("size", 0)),
                extents=_extents(get("extents", ()), content_end),
                target=_text(get("target", "")),
                xattrs=_xattrs(value["xattrs"]) if "xattrs" in value else {},
            )
            entry._check()
            if entry.type is not EntryType.FILE:  # `encode` writes these for files only
                entry.__dict__.update(ctime_ns=0, inode=0, size=0)
        except (ValueError, TypeError, AttributeError, RecursionError, binascii.Error) as error:
            raise DamagedMetadata(f"the tree's manifest has a wrong line {line[:80]!r}: {error}") from error
        return entry

    def _check(self) -> None:
        """What one field demands of another."""
        check_path(self.path)
        if self.type is EntryType.HARD_LINK:
            check_path(self.target)
            if self.target == ROOT_PATH:
                raise ValueError("a directory cannot be linked")
        elif (self.type is EntryType.SYMLINK) != bool(self.target):
            raise ValueError("a symlink, and nothing else, has a target")
        if "\0" in self.target:
            raise ValueError("no name holds a NUL")
        if self.extents:
            if self.type is not EntryType.FILE:
                raise ValueError("only a file has extents")
            last = self.extents[-1]
            if last.file_offset + last.length > self.size:
                raise ValueError("an extent lies behind the end of the file")


# A line as `encode` writes it for nearly every file: in one piece, without attributes, with a name of plain ASCII. Read
# like this it takes a fourth of the time; whatever is not exactly so takes the long way. Eighteen digits always fit.
_NUMBER = rb"(0|[1-9][0-9]{0,17})"
_TIME = rb"(0|[1-9][0-9]{0,17}|1[0-9]{18})"
_USUAL_FILE = re.compile(
    rb'\{"path":"([ !#-\[\]-~]+)","type":"file","mode":(0|[1-9][0-9]{0,3}),"uid":(0|[1-9][0-9]{0,8}),'
    rb'"gid":(0|[1-9][0-9]{0,8}),"mtime_ns":%b,"ctime_ns":%b,"inode":%b,"size":%b,"extents":\[\[%b,%b,%b\]\]\}\n?'
    % (_TIME, _TIME, _NUMBER, _NUMBER, _NUMBER, _NUMBER, _NUMBER)
)


def _usual_file(line: bytes, content_end: int) -> TreeEntry | None:
    """The entry, if nothing about it is odd; what may be wrong with it is for others to say."""
    found = _USUAL_FILE.fullmatch(line)
    if found is None:
        return None
    raw, *numbers = found.groups()
    mode, uid, gid, mtime_ns, ctime_ns, inode, size, image_offset, length, file_offset = map(int, numbers)
    path = raw.decode("ascii")
    wrong = mode > _MODE_BITS or length == 0 or image_offset + length > content_end or file_offset + length > size
    if wrong or path == ROOT_PATH or not _OUT_OF_TREE.isdisjoint(path.split("/")):
        return None
    extent = Extent(image_offset, length, file_offset)
    return quick_file(path, mode, uid, gid, mtime_ns, size, (extent,), {}, ctime_ns=ctime_ns, inode=inode)


def quick_file(  # noqa: PLR0917  # the fields of an entry
    path: str,
    mode: int,
    uid: int,
    gid: int,
    mtime_ns: int,
    size: int,
    extents: tuple[Extent, ...],
    xattrs: dict[str, bytes],
    *,
    ctime_ns: int = 0,
    inode: int = 0,
) -> TreeEntry:
    """A file of which all is known to be right: its fields are set at once, because there may be a million of them."""
    entry = object.__new__(TreeEntry)
    entry.__dict__.update(
        path=path,
        type=EntryType.FILE,
        mode=mode,
        uid=uid,
        gid=gid,
        mtime_ns=mtime_ns,
        ctime_ns=ctime_ns,
        inode=inode,
        size=size,
        extents=extents,
        target="",
        xattrs=xattrs,
    )
    return entry


def check_path(path: str) -> None:
    """Raise ValueError unless `path` is relative and stays below its root whatever lies there."""
    if path == ROOT_PATH:
        return
    if "\0" in path or not _OUT_OF_TREE.isdisjoint(path.split("/")):
        raise ValueError("its path leads out of the tree")


def _text(value: object) -> str:
    if type(value) is not str:
        raise ValueError("a path or a target should be text")
    if not value.isascii():
        # A surrogate that stands for no byte, or half a pair, cannot be a file name.
        value.encode("utf-8", "surrogateescape")
    return value


def _type(value: object) -> EntryType:
    found = _TYPES.get(value)
    if found is None:
        raise ValueError("nothing is of such a type")
    return found


def _whole(value: object, least: int = 0, most: int = _LARGEST_INT64) -> int:
    if type(value) is int and least <= value <= most:  # exactly int: True and False are numbers too, to Python
        return value
    raise ValueError(f"{value!r} should be a whole number")


def _extents(value: Sequence[Any], content_end: int) -> tuple[Extent, ...]:
    if len(value) > MOST_EXTENTS:
        raise ValueError("too many extents")
    extents, written = [], 0
    for image_offset, length, file_offset in value:
        _whole(image_offset)
        _whole(file_offset)
        if _whole(length) == 0 or image_offset + length > content_end:
            raise ValueError("an extent lies outside of the contents")
        if file_offset < written:
            raise ValueError("extents overlap")
        written = file_offset + length
        extents.append(Extent(image_offset, length, file_offset))
    return tuple(extents)


def _xattrs(value: Mapping[str, str]) -> dict[str, bytes]:
    for name in value:
        if "\0" in name:
            raise ValueError("no name holds a NUL")
        name.encode("utf-8", "surrogateescape")
    return {name: base64.b64decode(text, validate=True) for name, text in value.items()}


_TYPES: Mapping[object, EntryType] = {kind.value: kind for kind in EntryType}

"""A file tree as one image: contents in packs of whole blocks, the manifest behind them.

    | pack of small files | large file, block-aligned ... | pack of small files | manifest |

Small files lie together inside one block each, large ones begin on a block of their own; so a large file that did not
change gives the same blocks wherever it lies. Gaps are zeros. The backup's cfg tells, in its Parameters, that the
content is a tree and where the manifest is; to Longhorn it is an image like any other.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from tidegate.errors import DamagedMetadata
from tidegate.format.blocks.checksum import is_checksum
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE

CONTENT = "tidegate.dev/content"
TREE = "tree"
VERSION = 1
_VERSION = "tidegate.dev/manifest-version"
_OFFSET = "tidegate.dev/manifest-offset"
_LENGTH = "tidegate.dev/manifest-length"
_CHECKSUM = "tidegate.dev/manifest-checksum"
_FILE_BYTES = "tidegate.dev/tree-bytes"
_SETTLED = "tidegate.dev/tree-settled-before"
_ATTRIBUTES = "tidegate.dev/tree-attributes"
_INCOMPLETE = "incomplete"
_CHANGED = "tidegate.dev/changed-files"
_MOST_CHANGED = 100
_LONGEST_CHANGED = 64 * 1024
_NUMBER = re.compile(r"[0-9]{1,19}")
_SUM = re.compile(r"[0-9]{1,40}")
# Two sparse files have more bytes than a number of 64 bits counts. Everything else that counts stays within it.
_MOST_COUNTED = 2**63 - 1


def align_up(offset: int, block_size: int = DEFAULT_BLOCK_SIZE) -> int:
    """The first multiple of the block size that is not below `offset`."""
    return -(-offset // block_size) * block_size


class Packer:
    """Gives each run of file bytes its place in the image. Equal trees, walked alike, get equal images.

    Small runs and large ones get ascending places among themselves.
    """

    def __init__(self, block_size: int = DEFAULT_BLOCK_SIZE, *, begin: int = 0) -> None:
        self._block_size = block_size
        self._end = begin  # of everything placed so far, a multiple of the block size
        self._pack_free = 0  # where the open pack goes on
        self._pack_end = 0

    @property
    def end(self) -> int:
        """Where the contents end: a multiple of the block size."""
        return self._end

    def seal(self) -> None:
        """What comes from here on is placed behind the end: blocks up to there are read already."""
        self._pack_free = self._pack_end = self._end

    def place(self, length: int) -> int:
        """The offset in the image for the next `length` bytes; no two places overlap."""
        if length >= self._block_size:
            offset = self._end
            self._end = align_up(offset + length, self._block_size)
            return offset
        # A small run never crosses a block: one damaged block then costs as few files as possible.
        if self._pack_free + length > self._pack_end:
            self._pack_free = self._end
            self._end = self._pack_end = self._end + self._block_size
        offset = self._pack_free
        self._pack_free += length
        return offset


@dataclass(frozen=True)
class TreeMark:
    """What a backup's Parameters say about the tree inside."""

    manifest_offset: int
    manifest_length: int
    manifest_checksum: str
    file_bytes: int
    """Bytes of all regular files, as people count them."""
    settled_before_ns: int = 0
    """A file whose ctime is not before this may have been written to again without its times telling so."""
    attributes_incomplete: bool = False
    """Whether some extended attributes could not be read: an unchanged file may have more than its line tells."""

    def parameters(self) -> dict[str, str]:
        """For the backup's cfg."""
        return {
            CONTENT: TREE,
            _VERSION: str(VERSION),
            _OFFSET: str(self.manifest_offset),
            _LENGTH: str(self.manifest_length),
            _CHECKSUM: self.manifest_checksum,
            _FILE_BYTES: str(min(self.file_bytes, _MOST_COUNTED)),
            # An earlier time is safe: more files are read again than need be.
            _SETTLED: str(min(self.settled_before_ns, _MOST_COUNTED)),
            **({_ATTRIBUTES: _INCOMPLETE} if self.attributes_incomplete else {}),
        }

    @classmethod
    def of(cls, parameters: Mapping[str, str], *, image_size: int) -> "TreeMark | None":
        """The mark, or None if the backup holds no tree; raises DamagedMetadata if it cannot be right."""
        if parameters.get(CONTENT) != TREE:
            if _OFFSET in parameters or _CHECKSUM in parameters:
                raise DamagedMetadata("the cfg tells where a tree's manifest is, but not that it holds a file tree")
            return None
        version = _number(parameters, _VERSION)
        if version != VERSION:
            raise DamagedMetadata(
                f"the file tree is written in version {version}, this program reads version {VERSION}",
                hint="restore it with a newer version of Tidegate",
            )
        mark = cls(
            _number(parameters, _OFFSET),
            _number(parameters, _LENGTH),
            parameters.get(_CHECKSUM, ""),
            min(_number(parameters, _FILE_BYTES, form=_SUM), _MOST_COUNTED),
            _number(parameters, _SETTLED) if _SETTLED in parameters else 0,
            parameters.get(_ATTRIBUTES) == _INCOMPLETE,
        )
        if mark.manifest_offset + mark.manifest_length > image_size or not is_checksum(mark.manifest_checksum):
            raise DamagedMetadata("the cfg does not tell where the manifest of the file tree is")
        return mark


def shown_size(parameters: Mapping[str, str], *, image_size: int) -> int:
    """Bytes that a person would call the size of the content: of the files for a tree, else of the image."""
    text = parameters.get(_FILE_BYTES, "")
    is_told = parameters.get(CONTENT) == TREE and _SUM.fullmatch(text)
    return min(int(text), _MOST_COUNTED) if is_told else image_size


def changed_parameter(paths: Iterable[str]) -> dict[str, str]:
    """Names the files that changed while they were read, so that a restore can warn too; the first hundred do."""
    names = list(islice(paths, _MOST_CHANGED))
    while names and len(json.dumps(names)) > _LONGEST_CHANGED:
        names.pop()
    return {_CHANGED: json.dumps(names)} if names else {}


def changed_files(parameters: Mapping[str, str]) -> list[str]:
    """The files named by `changed_parameter`; nothing if that cannot be understood, for it is only a warning."""
    text = parameters.get(_CHANGED, "")[:_LONGEST_CHANGED]
    try:
        names = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _number(parameters: Mapping[str, str], key: str, *, form: re.Pattern[str] = _NUMBER) -> int:
    text = parameters.get(key, "")
    if not form.fullmatch(text):
        raise DamagedMetadata(f"the cfg's parameter {key} should be a whole number, not {text[:40]!r}")
    return int(text)

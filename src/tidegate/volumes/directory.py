"""A directory as a source: the tree is laid out as a packed image, which is never built but read piece by piece."""

import hashlib
import os
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from tidegate.errors import NoSpace, SourceUnreadable
from tidegate.format.checksum import CHECKSUM_DIGITS
from tidegate.format.packed_tree import Packer, TreeMark, align_up, changed_parameter
from tidegate.format.tree_entry import LONGEST_LINE, Extent
from tidegate.volumes.beneath import open_beneath
from tidegate.volumes.file_watch import FileState, FileWatch
from tidegate.volumes.scan import Scanned, TreeScan

_READ = os.O_RDONLY | os.O_NONBLOCK
_MOST_WARNINGS = 1000


class _Run(NamedTuple):
    """Which bytes of which file lie at an offset of the image."""

    image_offset: int
    length: int
    file_offset: int
    file: FileState


class DirectorySource:
    """Keeps the VolumeSource's promise for a file tree. The tree is walked once, when the source is entered.

    A file that changes after that walk is read as it is then, cut or filled with zeros to the size that it had; it is
    named in the warnings and in the backup's cfg, so that a restore can say so too. No file stays open.
    """

    def __init__(self, path: str, *, still_wanted: Callable[[], None]) -> None:
        self._path = path
        self._still_wanted = still_wanted
        self._root = open_tree(path)
        self._manifest = tempfile.TemporaryFile()  # noqa: SIM115  closed with the source
        self._runs: list[_Run] = []
        self._warnings: list[str] = []
        self._warnings_left_out = 0
        self._watch = FileWatch()
        self._mark = TreeMark(0, 0, "", 0)

    @property
    def size(self) -> int:
        """See VolumeSource."""
        return align_up(self._mark.manifest_offset + self._mark.manifest_length)

    @property
    def cfg_parameters(self) -> dict[str, str]:
        """See VolumeSource. Complete only when everything was read."""
        return self._mark.parameters() | changed_parameter(self._watch.changed())

    def proof(self, *, settled_before: datetime) -> str | None:  # noqa: ARG002  no time says this of a whole tree
        """See VolumeSource."""
        return None

    def data_ranges(self) -> Iterator[tuple[int, int]]:
        """See VolumeSource."""
        return iter([(0, self._mark.manifest_offset + self._mark.manifest_length)])

    def read_at(self, offset: int, length: int) -> bytes:
        """See VolumeSource."""
        begin = self._mark.manifest_offset
        if offset + length <= begin:
            return self._read_contents(offset, length)
        if offset >= begin:
            return os.pread(self._manifest.fileno(), length, offset - begin).ljust(length, b"\0")
        return self._read_contents(offset, begin - offset) + self.read_at(begin, offset + length - begin)

    def warnings(self) -> Sequence[str]:
        """See VolumeSource."""
        more = [f"and {self._warnings_left_out} more"] if self._warnings_left_out else []
        return [*self._warnings, *more, *self._watch.warnings()]

    def __enter__(self) -> "DirectorySource":
        try:
            self._lay_out()
        except OSError as error:
            self.__exit__()
            raise NoSpace(f"the list of files could not be kept in {tempfile.gettempdir()}: {error}") from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._manifest.close()
        os.close(self._root)

    def _lay_out(self) -> None:
        packer, digest, file_bytes = Packer(), hashlib.sha512(), 0
        for scanned in TreeScan(self._root, warn=self._warn, still_wanted=self._still_wanted):
            line = self._place(scanned, packer)
            digest.update(line)
            self._manifest.write(line)
            file_bytes += scanned.entry.size
        self._manifest.flush()
        self._runs.sort(key=lambda run: run.image_offset)
        checksum = digest.hexdigest()[:CHECKSUM_DIGITS]
        self._mark = TreeMark(packer.end, self._manifest.tell(), checksum, file_bytes)

    def _place(self, scanned: Scanned, packer: Packer) -> bytes:
        entry = scanned.entry
        state = FileState(entry.path, scanned.inode, entry.size, entry.mtime_ns)
        extents = tuple(Extent(packer.place(length), length, offset) for offset, length in scanned.data)
        self._runs.extend(_Run(*extent, state) for extent in extents)
        line = replace(entry, extents=extents).encode()
        if len(line) > LONGEST_LINE:
            self._warn(f"{entry.path}: its extended attributes are too large and were left out")
            line = replace(entry, extents=extents, xattrs={}).encode()
        return line

    def _read_contents(self, offset: int, length: int) -> bytes:
        pieces: list[bytes] = []
        done = offset
        for run in self._runs_between(offset, offset + length):
            begin, end = max(run.image_offset, offset), min(run.image_offset + run.length, offset + length)
            pieces.append(bytes(begin - done))
            pieces.append(self._read(run.file, run.file_offset + begin - run.image_offset, end - begin))
            done = end
        pieces.append(bytes(offset + length - done))
        return b"".join(pieces)

    def _runs_between(self, begin: int, end: int) -> Iterator[_Run]:
        first = bisect_right(self._runs, begin, key=lambda run: run.image_offset) - 1
        for index in range(max(0, first), len(self._runs)):
            run = self._runs[index]
            if run.image_offset >= end:
                return
            if run.image_offset + run.length > begin:
                yield run

    def _read(self, file: FileState, offset: int, length: int) -> bytes:
        try:
            handle = open_beneath(self._root, file.path, _READ)
            try:
                content = _read_all(handle, offset, length)
                self._watch.compare(file, os.fstat(handle))
            finally:
                os.close(handle)
        except OSError as error:
            self._watch.lost(file, error)
            content = b""
        if len(content) < length:
            self._watch.shrank(file)
        return content.ljust(length, b"\0")

    def _warn(self, sentence: str) -> None:
        if len(self._warnings) < _MOST_WARNINGS:
            self._warnings.append(sentence)
        else:
            self._warnings_left_out += 1


def open_tree(path: str) -> int:
    """A handle of the directory; raises SourceUnreadable with a sentence if it is none or may not be read."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise SourceUnreadable(f"{path} does not exist") from error
    except NotADirectoryError as error:
        raise SourceUnreadable(f"{path} is not a directory") from error
    except PermissionError as error:
        raise SourceUnreadable(f"{path} may not be read: permission denied") from error
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be opened: {error.strerror}") from error


def _read_all(handle: int, offset: int, length: int) -> bytes:
    """These bytes, or as many as there are."""
    content = os.pread(handle, length, offset)
    while len(content) < length:
        piece = os.pread(handle, length - len(content), offset + len(content))
        if not piece:
            break
        content += piece
    return content

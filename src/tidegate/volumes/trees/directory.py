"""A directory as a source: the tree is laid out as a packed image, which is never built but read piece by piece."""

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice

from tidegate.errors import NoSpace, SourceUnreadable
from tidegate.format.blocks.checksum import CHECKSUM_DIGITS
from tidegate.format.trees.entry import LONGEST_LINE, EntryType, Extent
from tidegate.format.trees.globs import TreeGlobs
from tidegate.format.trees.layout import BlockUse, Places
from tidegate.format.trees.manifest_cuts import cut_manifest, in_pieces
from tidegate.format.trees.packed_tree import Packer, TreeMark, align_up, changed_parameter
from tidegate.format.trees.shown_path import shown_path
from tidegate.ports.volume_data import NO_SNAPSHOT, BackupContent
from tidegate.volumes.trees.file_reader import FileReader
from tidegate.volumes.trees.file_runs import FileRuns, Run
from tidegate.volumes.trees.file_watch import FileWatch
from tidegate.volumes.trees.known_tree import KnownFile, known_tree
from tidegate.volumes.trees.mounted_tree import refuse_unfinished_tree
from tidegate.volumes.trees.scan import Scanned, TreeScan
from tidegate.volumes.trees.spool import TreeSpool
from tidegate.volumes.warning_list import WarningList

_MOST_LEFT_OUT = 100
_MOST_TRIES = 3
# A file that is larger and keeps changing would be read for hours, and still be mixed.
_LARGEST_READ_AGAIN = 1024 * 1024 * 1024
# Coarser than the times of any file system that is in use.
_MARGIN_NS = 2_000_000_000
_PIECE = 256 * 1024


class DirectorySource:
    """Keeps the VolumeSource's promise for a file tree. The tree is walked once, when the source is entered.

    Files that `base`, the volume's last backup, has unchanged keep their places and are not opened. A file that changes
    between the walk and its reading is read again; one that keeps changing is backed up as it was read, cut or filled
    with zeros to the size that it had, and named in the warnings and in the backup's cfg, so that a restore can say so
    too. A file that cannot be read is left out and named. No file stays open.
    """

    def __init__(
        self,
        path: str,
        *,
        block_size: int,
        settled_before: datetime,
        still_wanted: Callable[[], None],
        excludes: Sequence[str] = (),
        base: BackupContent | None = None,
    ) -> None:
        globs = TreeGlobs(excludes) if excludes else None  # raises before anything is opened
        self._path = path
        self._block_size = block_size
        self._settled_before_ns = int(settled_before.timestamp()) * 1_000_000_000 - _MARGIN_NS
        self._still_wanted = still_wanted
        self._base = base
        refuse_unfinished_tree(path)
        self._root = open_tree(path)
        self._spool = TreeSpool()
        self._lines_end = 0
        self._manifest = TreeSpool()
        self._watch = FileWatch()
        self._reader = FileReader(self._root, self._spool, self._watch)
        # Of files that changed: from the line that the walk wrote to the newest one, and back.
        self._newest: dict[int, int] = {}
        self._origins: dict[int, int] = {}
        self._one_pack = threading.Lock()
        self._warnings = WarningList()
        self._scan = TreeScan(self._root, excludes=globs, warn=self._warnings.add, still_wanted=still_wanted)
        self._places = BlockUse(0, block_size).plan()
        self._begin_new(0)
        self._file_bytes = 0
        self._mark: TreeMark | None = None

    def begin_reading(self) -> None:
        """See VolumeSource. Each file is compared with what the walk saw when it is read."""

    @property
    def size(self) -> int:
        """See VolumeSource. Final once everything was read."""
        manifest = self._mark.manifest_length if self._mark else self._spool.end
        return align_up(self._packer.end + manifest)

    @property
    def shown_size(self) -> int:
        """See VolumeSource."""
        return self._file_bytes

    @property
    def bytes_to_read(self) -> int:
        """See VolumeSource."""
        return self.size - self._new_begin

    @property
    def cfg_parameters(self) -> dict[str, str]:
        """See VolumeSource."""
        if self._mark is None:
            raise RuntimeError("the tree was not read to its end")
        return self._mark.parameters() | changed_parameter(self._watch.changed_paths())

    def proof(self, *, settled_before: datetime) -> str | None:  # noqa: ARG002  no time says this of a whole tree
        """See VolumeSource."""
        return None

    def kept_blocks(self) -> Iterator[tuple[int, int]]:
        """See VolumeSource."""
        return self._places.kept()

    def rounds(self) -> Iterator[Iterator[tuple[int, int]]]:
        """See VolumeSource: what is new, then files that changed meanwhile, then the manifest."""
        done = self._new_begin
        for attempt in range(_MOST_TRIES):
            if attempt:
                self._place_changed_anew()
            if self._packer.end > done:
                yield iter([(done, self._packer.end - done)])
            done = self._packer.end
        if os.fstat(self._root).st_nlink == 0:
            # All of its files are lost now, and without them this would look like a backup of an empty directory.
            raise SourceUnreadable(f"{self._path} vanished while it was read")
        self._write_manifest()
        yield iter([(self._packer.end, self._manifest.end)])

    def read_at(self, offset: int, length: int) -> bytes:
        """See VolumeSource."""
        begin = self._packer.end
        if offset >= begin:
            return self._manifest.read(offset - begin, length).ljust(length, b"\0")
        if offset + length > begin:
            return self._read_contents(offset, begin - offset) + self.read_at(begin, offset + length - begin)
        return self._read_contents(offset, length)

    def warnings(self) -> Sequence[str]:
        """See VolumeSource."""
        told = WarningList()
        told.take_over(self._warnings)
        told.take_over(WarningList(self._watch.warnings()))
        return told.sentences()

    @property
    def snapshot(self) -> str:
        """See VolumeSource. A change is noticed file by file instead."""
        return NO_SNAPSHOT

    @property
    def left_out(self) -> Sequence[str]:
        """See VolumeSource."""
        return [*self._scan.unreadable, *self._watch.unreadable][:_MOST_LEFT_OUT]

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
        self._reader.close()
        self._scan.close()
        self._spool.close()
        self._manifest.close()
        os.close(self._root)

    def _begin_new(self, offset: int) -> None:
        self._new_begin = offset
        self._packer = Packer(self._block_size, begin=offset)
        self._runs = FileRuns(self._block_size)

    def _lay_out(self) -> None:
        with tempfile.TemporaryFile() as base_manifest:
            known = known_tree(self._base, base_manifest)
            use = BlockUse(align_up(known.content_end, self._block_size) // self._block_size, self._block_size)
            self._begin_new(align_up(known.content_end, self._block_size))
            for found in self._scan.walk(known):
                if isinstance(found, KnownFile):
                    for offset, length, _ in found.extents:
                        use.add(offset, length)
                    self._file_bytes += found.identity[0]
                    self._spool.append(found.line + b"\n")
                else:
                    self._file_bytes += found.entry.size
                    self._place(found)
        self._lines_end = self._spool.end
        self._places = use.plan()
        if self._places.moves:
            self._move_together(self._places)
        self._spool.flush()

    def _place(self, scanned: Scanned) -> int:
        extents = tuple(Extent(self._packer.place(length), length, offset) for offset, length in scanned.data)
        line = scanned.entry.encode(extents)
        if len(line) > LONGEST_LINE:
            self._warnings.add(
                f"{shown_path(scanned.entry.path)}: its extended attributes are too large and were left out"
            )
            self._scan.lost_attributes = True
            line = replace(scanned.entry, xattrs={}).encode(extents)
        begin = self._spool.append(line)
        for extent in extents:
            self._runs.add(Run(*extent, begin))
        return begin

    def _move_together(self, places: Places) -> None:
        """Give every file the place that it has from now on. Only of packs that are given up are files read again."""
        before, earlier_end, self._spool = self._spool, self._new_begin, TreeSpool()
        self._reader = FileReader(self._root, self._spool, self._watch)
        self._begin_new(places.end)
        for _, line in before.lines(self._lines_end):
            value = json.loads(line)
            if value["type"] != EntryType.FILE:
                self._spool.append(line)
                continue
            begin = self._spool.end
            for extent in value["extents"]:
                offset, length, file_offset = extent
                stays = places.new_offset(offset) if offset < earlier_end else None
                extent[0] = self._packer.place(length) if stays is None else stays
                if stays is None:
                    self._runs.add(Run(extent[0], length, file_offset, begin))
            self._spool.append(json.dumps(value, separators=(",", ":")).encode() + b"\n")
        before.close()
        self._lines_end = self._spool.end

    def _read_contents(self, offset: int, length: int) -> bytes:
        end = offset + length
        runs = self._runs.between(offset, end)
        first = list(islice(runs, 2))
        if len(first) == 1:
            return self._joined(first, offset, end)
        # One thread at a time: a pack is hundreds of short calls, and between two threads that make them the
        # interpreter changes hands at each one, which takes longer than the calls. The others hash and compress.
        with self._one_pack:
            return self._joined(chain(first, runs), offset, end)

    def _joined(self, runs: Iterable[Run], offset: int, end: int) -> bytes:
        """What is between the runs is zeros."""
        content = bytearray(end - offset)
        for run in runs:
            first, last = max(run.image_offset, offset), min(run.image_offset + run.length, end)
            read = self._reader.read(run, run.file_offset + first - run.image_offset, last - first)
            if len(read) == len(content):
                return read
            content[first - offset : last - offset] = read
        return bytes(content)

    def _place_changed_anew(self) -> None:
        self._packer.seal()
        for line, path in self._watch.take_changed().items():
            self._still_wanted()
            try:
                scanned = self._scan.look_again(path)
            except OSError as error:
                self._watch.lost(line, path, error)
                continue
            if scanned is not None and scanned.entry.size <= _LARGEST_READ_AGAIN:
                self._file_bytes += scanned.entry.size - self._size_of(line)
                origin = self._origins.get(line, line)
                self._newest[origin] = self._place(scanned)
                self._origins[self._newest[origin]] = origin
            else:
                self._watch.changed(line, path)
        self._spool.flush()

    def _write_manifest(self) -> None:
        digest = hashlib.sha512()
        for piece in in_pieces(cut_manifest(self._final_lines(), self._block_size), _PIECE):
            digest.update(piece)
            self._manifest.append(piece)
        self._manifest.flush()
        checksum = digest.hexdigest()[:CHECKSUM_DIGITS]
        self._mark = TreeMark(
            self._packer.end,
            self._manifest.end,
            checksum,
            self._file_bytes,
            max(0, self._settled_before_ns),
            self._scan.lost_attributes,
        )

    def _final_lines(self) -> Iterator[bytes]:
        """Every line as it was read last, but for files that could not be read and links to them."""
        lost_paths: set[str] = set()
        for begin, line in self._spool.lines(self._lines_end):
            newest = self._newest.get(begin, begin)
            if self._watch.is_lost(newest):
                self._file_bytes -= self._size_of(newest)
                lost_paths.add(json.loads(line)["path"])
            elif newest != begin:
                yield self._spool.line(newest) + b"\n"
            elif not lost_paths or not self._links_to(line, lost_paths):
                yield line

    def _links_to(self, line: bytes, lost_paths: set[str]) -> bool:
        value = json.loads(line)
        if value["type"] != EntryType.HARD_LINK or value["target"] not in lost_paths:
            return False
        path, target = shown_path(value["path"]), shown_path(value["target"])
        self._warnings.add(f"{path}: is the same file as {target} and was left out too")
        return True

    def _size_of(self, line: int) -> int:
        size: int = json.loads(self._spool.line(line))["size"]
        return size


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

"""Making the entries of a tree below a directory that nobody else can enter yet."""

import contextlib
import errno
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tidegate.disk.direct_writer import DirectWriter, write_at
from tidegate.errors import DamagedMetadata
from tidegate.format.cfgs.times import moment_of
from tidegate.format.trees.access_list import ACCESS_LIST, mode_without
from tidegate.format.trees.batches import Pack, Part, SplitFile
from tidegate.format.trees.entry import ROOT_PATH, EntryType, TreeEntry
from tidegate.format.trees.shown_path import shown_path
from tidegate.model.plain import Plain
from tidegate.volumes.trees.attributes import set_xattr_in
from tidegate.volumes.trees.beneath import DIRECTORY, Beneath
from tidegate.volumes.warning_list import WarningList

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PERMISSIONS = 0o777
_SPECIAL = {stat.S_ISUID: "setuid", stat.S_ISGID: "setgid", stat.S_ISVTX: "sticky"}
_SPECIAL_BITS = 0o7000
# Every file system that is in use holds these times, in steps of at most two seconds.
_USUAL_TIMES_NS = range(315_532_800 * 10**9, 2**31 * 10**9)  # from 1980 to 2038
_COARSEST_NS = 2 * 10**9
_MOST_DIRECTORIES = 64
_A_TIME_NS = 10**18 + 123_456_789


@dataclass(frozen=True, kw_only=True)
class Notes(Plain):
    """What there is to tell of the files that one writer made."""

    warnings: tuple[str, ...]
    more_warnings: int
    """Beyond those."""
    owners_left_out: bool
    rounded_times: bool


@dataclass
class _OpenFile:
    handle: int
    parts_left: int
    writer: DirectWriter

    def close(self) -> None:
        self.writer.close()
        os.close(self.handle)


class TreeWriter:
    """Makes directories before what lies in them; `finish` gives them their rights and times. For many threads.

    What the file system or our rights do not allow (owners, extended attributes, setgid bits, far times) is left out
    with a warning, also where the kernel does so without an error.
    """

    def __init__(self, root: str, *, block_size: int) -> None:
        self._root = os.open(root, DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._beneath = Beneath(self._root)
        self._block_size = block_size
        self._born, self._keeps_nanoseconds = _newborn(self._root)
        self._born_owner = (self._born.st_uid, self._born.st_gid)
        self._directories: OrderedDict[str, int] = OrderedDict()
        self._split: dict[SplitFile, _OpenFile] = {}
        # Small files are made by one thread at a time: two would only wait for the interpreter and the directory.
        self._making = threading.Lock()
        self._gives_owners = os.geteuid() == 0
        self._our_owner = (os.geteuid(), os.getegid())
        self._owners_left_out = self._rounded_times = False
        self._warnings = WarningList()

    def make(self, entry: TreeEntry) -> None:
        """Make what has no bytes in the image. It must not exist yet: a manifest that names a path twice is damaged."""
        if entry.path == ROOT_PATH:
            return
        with self._making:
            try:
                self._make(entry, self._directory(entry.parent))
            except FileExistsError as error:
                raise _twice(entry) from error
            except OSError as error:
                raise _about(entry, error) from error

    def write_pack(self, pack: Pack, block: bytes | memoryview | None) -> None:
        """Make files whose bytes are all in `block`; without a block they are zeros."""
        view = None if block is None else memoryview(block)
        with self._making:
            for entry in pack.files:
                try:
                    self._make_file(entry, view, pack.offset)
                except OSError as error:
                    raise _about(entry, error) from error

    def write_part(self, part: Part, block: bytes | None) -> None:
        """Write what `block` has of a file; the first part makes the file, the last one gives it rights and time."""
        try:
            self._write_part(part, block)
        except OSError as error:
            raise _about(part.file.entry, error) from error

    def _write_part(self, part: Part, block: bytes | None) -> None:
        with self._making:
            file = self._split.get(part.file) or self._begin(part.file)
        if block is not None:
            view = memoryview(block)
            for image_offset, length, file_offset in part.extents:
                at = image_offset - part.offset
                file.writer.write_at(view[at : at + length], file_offset)
        with self._making:
            file.parts_left -= 1
            if file.parts_left == 0:
                self._give_new(part.file.entry, file.handle)
                self._split.pop(part.file).close()

    def finish(self, directories: Iterable[TreeEntry]) -> None:
        """Children come first: making something in a directory changes its time, and some may not be written to."""
        for entry in directories:
            with _closing(self._beneath.open(entry.path, DIRECTORY)) as handle:
                self._give(entry, handle)

    @property
    def warnings(self) -> Sequence[str]:
        """What could not be set as it was."""
        owners = ["the owners of the files were not restored: only root can"] if self._owners_left_out else []
        times = ["times were rounded: the file system does not hold nanoseconds"] if self._rounded_times else []
        return [*owners, *times, *self._warnings.sentences()]

    @property
    def notes(self) -> Notes:
        """What there is to tell so far."""
        return Notes(
            warnings=tuple(self._warnings.first),
            more_warnings=self._warnings.more,
            owners_left_out=self._owners_left_out,
            rounded_times=self._rounded_times,
        )

    def take_over(self, notes: Notes) -> None:
        """Tell also what another writer of the same tree would tell."""
        self._warnings.add_all(notes.warnings, more=notes.more_warnings)
        self._owners_left_out |= notes.owners_left_out
        self._rounded_times |= notes.rounded_times

    def close(self) -> None:
        """Give the handles back."""
        for file in self._split.values():
            file.close()
        for handle in self._directories.values():
            os.close(handle)
        self._beneath.close()
        os.close(self._root)

    def _make(self, entry: TreeEntry, parent: int) -> None:
        match entry.type:
            case EntryType.DIRECTORY:
                os.mkdir(entry.name, 0o700, dir_fd=parent)
            case EntryType.FILE:
                self._make_file(entry, None, 0)
            case EntryType.SYMLINK:
                os.symlink(entry.target, entry.name, dir_fd=parent)
                self._give_symlink(entry, parent)
            case EntryType.FIFO:
                os.mkfifo(entry.name, 0o600, dir_fd=parent)
                # Opened without waiting for a writer at its other end.
                with _closing(
                    os.open(entry.name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=parent)
                ) as handle:
                    self._give(entry, handle)
            case EntryType.HARD_LINK:
                directory, _, name = entry.target.rpartition("/")
                with _closing(self._beneath.open(directory or ROOT_PATH, DIRECTORY)) as other:
                    os.link(name, entry.name, src_dir_fd=other, dst_dir_fd=parent, follow_symlinks=False)

    def _make_file(self, entry: TreeEntry, view: memoryview | None, begin: int) -> None:
        handle = self._create(entry)
        try:
            extents = entry.extents
            if view is not None:
                for image_offset, length, file_offset in extents:
                    at = image_offset - begin
                    write_at(handle, view[at : at + length], file_offset)
            # A hole at the end is made; others are where nothing is written.
            if view is None or extents[-1].file_offset + extents[-1].length != entry.size:
                os.ftruncate(handle, entry.size)
            self._give_new(entry, handle)
        finally:
            os.close(handle)

    def _begin(self, file: SplitFile) -> _OpenFile:
        handle = self._create(file.entry)
        begun = self._split[file] = _OpenFile(handle, file.parts, DirectWriter(handle))
        os.ftruncate(handle, file.entry.size)
        return begun

    def _create(self, entry: TreeEntry) -> int:
        directory, _, name = entry.path.rpartition("/")
        # Its own mode at once saves a call; but whoever is not root must be able to write attributes.
        mode = 0o600 if entry.xattrs else entry.mode & _PERMISSIONS
        try:
            return os.open(name, _NEW_FILE, mode, dir_fd=self._directory(directory or ROOT_PATH))
        except FileExistsError as error:
            raise _twice(entry) from error

    def _give_new(self, entry: TreeEntry, handle: int) -> None:
        """What `_give` does, but only where a file is not born as it should be: seldom, among a million files."""
        if (entry.uid, entry.gid) != self._born_owner or entry.xattrs:
            self._give(entry, handle)
            return
        if entry.mode != entry.mode & _PERMISSIONS & self._born.st_mode:
            self._give_mode(entry, handle)
        self._give_time(entry, handle)

    def _give(self, entry: TreeEntry, handle: int) -> None:
        """In this order: a new owner clears capabilities and set-uid bits, and any of it changes the time."""
        if self._gives_owners:
            self._try(entry, "owner", partial(os.fchown, handle, entry.uid, entry.gid))
        elif (entry.uid, entry.gid) != self._our_owner:
            self._owners_left_out = True
        for name in entry.xattrs:
            is_set = self._try(entry, f"attribute {name}", partial(os.setxattr, handle, name, entry.xattrs[name]))
            if name == ACCESS_LIST and not is_set:
                entry = replace(entry, mode=mode_without(entry.xattrs[name], entry.mode))
        self._give_mode(entry, handle)
        self._give_time(entry, handle)

    def _give_mode(self, entry: TreeEntry, handle: int) -> None:
        mode = entry.mode
        if mode & _SPECIAL_BITS and entry.type is EntryType.FILE:
            mode &= ~_rights_of_others(entry, os.fstat(handle))
        self._try(entry, "mode", partial(os.fchmod, handle, mode))
        if not entry.mode & _SPECIAL_BITS:
            return
        if names := _names(entry.mode & ~mode):
            self._warn(entry, f"its {names} bit was left out: the file has another owner now")
        # Without CAP_FSETID the kernel drops a setgid bit of a group that is not ours, and reports success.
        if names := _names(mode & ~os.fstat(handle).st_mode):
            self._warn(entry, f"its {names} bit could not be restored: the system dropped it")

    def _give_time(self, entry: TreeEntry, target: int | str, **where: Any) -> None:  # noqa: ANN401  of os.utime
        wanted = entry.mtime_ns
        try:
            os.utime(target, ns=(wanted, wanted), **where)
            self._rounded_times |= not self._keeps_nanoseconds and wanted % 10**9 != 0
            if wanted in _USUAL_TIMES_NS:
                return
            found = os.stat(target, **where).st_mtime_ns
        except (OSError, OverflowError) as error:
            self._warn_left_out(entry, "time", error)
            return
        if abs(found - wanted) >= _COARSEST_NS:
            self._warn(entry, f"its time could not be restored: the file system cannot hold {_shown_time(wanted)}")

    def _give_symlink(self, entry: TreeEntry, parent: int) -> None:
        if self._gives_owners:
            owner = (entry.uid, entry.gid)
            self._try(entry, "owner", lambda: os.chown(entry.name, *owner, dir_fd=parent, follow_symlinks=False))
        for name in entry.xattrs:
            give = partial(set_xattr_in, parent, entry.name, name, entry.xattrs[name])
            self._try(entry, f"attribute {name}", give)
        self._give_time(entry, entry.name, dir_fd=parent, follow_symlinks=False)

    def _try(self, entry: TreeEntry, what: str, action: Callable[[], None]) -> bool:
        try:
            action()
        except (OSError, OverflowError) as error:
            self._warn_left_out(entry, what, error)
            return False
        return True

    def _warn_left_out(self, entry: TreeEntry, what: str, error: OSError | OverflowError) -> None:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        self._warn(entry, f"its {what} could not be restored: {reason}")

    def _warn(self, entry: TreeEntry, sentence: str) -> None:
        self._warnings.add(f"{shown_path(entry.path)}: {sentence}")

    def _directory(self, path: str) -> int:
        """A handle of the directory; some are kept, because the next entries most likely lie there too."""
        handle = self._directories.get(path)
        if handle is None:
            handle = self._directories[path] = self._beneath.open(path, DIRECTORY)
            if len(self._directories) > _MOST_DIRECTORIES:
                os.close(self._directories.popitem(last=False)[1])
        return handle


def _newborn(directory: int) -> tuple[os.stat_result, bool]:
    """What a new file gets by itself: its owner (the directory may give its group) and the permissions it may have.

    And whether it keeps a time to the nanosecond.
    """
    name = ".newborn"
    with _closing(os.open(name, _NEW_FILE, _PERMISSIONS, dir_fd=directory)) as handle:
        os.unlink(name, dir_fd=directory)
        with contextlib.suppress(OSError):  # each file will say so
            os.utime(handle, ns=(_A_TIME_NS, _A_TIME_NS))
        found = os.fstat(handle)
        return found, found.st_mtime_ns == _A_TIME_NS


def _about(entry: TreeEntry, error: OSError) -> OSError:
    """The error with the file that it is about, unless it is about all of them."""
    is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return error if is_full else OSError(error.errno, f"{shown_path(entry.path)}: {error.strerror}")


def _rights_of_others(entry: TreeEntry, found: os.stat_result) -> int:
    """The bits by which a program would run with the rights of an owner that is not its own."""
    user = stat.S_ISUID if found.st_uid != entry.uid else 0
    return user | (stat.S_ISGID if found.st_gid != entry.gid else 0)


def _names(bits: int) -> str:
    return " and ".join(name for bit, name in _SPECIAL.items() if bits & bit)


def _twice(entry: TreeEntry) -> DamagedMetadata:
    return DamagedMetadata(
        f"{shown_path(entry.path)!r} comes twice in the tree",
        hint="or the destination's file system does not tell upper from lower case",
    )


def _shown_time(time_ns: int) -> str:
    seconds = time_ns // 10**9
    moment = moment_of(time_ns)
    return f"{moment:%Y-%m-%d}" if int(moment.timestamp()) == seconds else f"{seconds} seconds since 1970"


@contextlib.contextmanager
def _closing(handle: int) -> Iterator[int]:
    try:
        yield handle
    finally:
        os.close(handle)

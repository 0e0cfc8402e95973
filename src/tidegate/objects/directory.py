"""A store in a directory: a disk, a mounted share, anything that looks like one.

Written by hand instead of through obstore, because a backup that is told to be done must survive a power cut, and
obstore does not sync. Everything goes through the handle of the root that was opened at the beginning, one component
at a time and never through a symbolic link, so no key leads out of it; and if the root vanishes under us (an
unmounted share) that is noticed and never taken for an empty store.
"""

import contextlib
import errno
import os
import re
import secrets
import stat
import threading
import weakref
from collections.abc import Iterator
from datetime import UTC, datetime

from tidegate.disk.direct_writer import DirectWriter, write_at
from tidegate.disk.file_system import is_local, sync_file_system
from tidegate.errors import DamagedMetadata, InvalidInput, NotFound, StoreIdentityMissing, StoreUnavailable
from tidegate.objects.directory_errors import translated
from tidegate.ports.object_store import Listing, ObjectInfo

# As Longhorn makes them.
_DIRECTORY_MODE = 0o700
_FILE_MODE = 0o644
# What a writer calls an object until it is whole: we add random digits, Longhorn the time. Nothing looser, because
# `backup_x.tmp.cfg` is the cfg of a backup that is called x.tmp.
_TEMPORARY = re.compile(r".+\.tmp\.(?:[0-9a-f]{16}|[0-9]{9,20})")
_MOST_LEFTOVERS = 10_000
_OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A few more than there are cores: while one waits for the disk, others compute.
_IN_FLIGHT_ON_A_DISK = 4
_IN_FLIGHT_ON_A_SHARE = 8
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


class DirectoryObjects:
    """Keeps the ObjectStore's promise in a directory that must exist already. An object is a file of that name."""

    def __init__(self, root: str) -> None:
        self._root = root
        with translated(root, "open"):
            try:
                self._root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except (FileNotFoundError, NotADirectoryError) as error:
                raise StoreUnavailable(f"{root} is not a directory; is it mounted?") from error
        weakref.finalize(self, os.close, self._root_fd)
        self._is_local = is_local(self._root_fd)
        self._met: set[str] = set()
        self._meeting = threading.Lock()

    @property
    def requests_in_flight(self) -> int:
        """See ObjectStore."""
        return _IN_FLIGHT_ON_A_DISK if self._is_local else _IN_FLIGHT_ON_A_SHARE

    @property
    def lists_at_once(self) -> bool:
        """See ObjectStore. A share may show another client's file only when its cache has expired."""
        return self._is_local

    @property
    def identity(self) -> tuple[int, int]:
        """Which directory this is, whatever it is called by now."""
        root = os.fstat(self._root_fd)
        return root.st_dev, root.st_ino

    def get(self, key: str, *, at_most: int) -> bytes:
        """See ObjectStore."""
        with translated(self._path(key), "read"):
            try:
                with self._parent(key) as (parent, name):
                    return _read(parent, name, key=key, at_most=at_most)
            except FileNotFoundError as error:
                raise self._absent(key) from error

    def get_part(self, key: str, *, start: int, length: int) -> tuple[bytes, ObjectInfo]:
        """At most `length` bytes from `start`, and what there is to know of the object they are from."""
        with translated(self._path(key), "read"):
            try:
                with self._parent(key) as (parent, name):
                    return _read_part(parent, name, key=key, start=start, length=length)
            except FileNotFoundError as error:
                raise self._absent(key) from error

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        sync = not (lazily and self._is_local)
        with translated(self._path(key), "write"), self._parent(key, create=True, sync=sync) as (parent, name):
            with _temporary(parent, name, body, sync=sync) as temporary:
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            if sync:
                os.fsync(parent)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore."""
        sync = not (lazily and self._is_local)
        with translated(self._path(key), "write"), self._parent(key, create=True, sync=sync) as (parent, name):
            if _exists(parent, name):
                return False
            with _temporary(parent, name, body, sync=sync) as temporary:
                created = _name_if_free(parent, temporary, name)
            if sync:
                os.fsync(parent)
            return created

    def flush(self) -> None:
        """See ObjectStore. Where nothing is ever put lazily there is nothing to do."""
        if self._is_local:
            with translated(self._root, "sync"):
                sync_file_system(self._root_fd)

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore."""
        with translated(self._path(key), "look at"):
            try:
                with self._parent(key) as (parent, name):
                    found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            except FileNotFoundError as error:
                raise self._absent(key) from error
            if stat.S_ISDIR(found.st_mode):
                raise self._absent(key)
            return _info(key, found)

    def list_level(self, prefix: str) -> Listing:
        """See ObjectStore."""
        directory = self._open_to_list(prefix, above=self._root_fd, way=_parts(prefix))
        if directory is None:
            return Listing((), ())
        try:
            return self._level(directory, prefix)
        finally:
            os.close(directory)

    def list_all(self, prefix: str) -> Iterator[ObjectInfo]:
        """See ObjectStore."""
        return self._list_below(prefix, above=self._root_fd, way=_parts(prefix))

    def _list_below(self, prefix: str, *, above: int, way: list[str]) -> Iterator[ObjectInfo]:
        """Each directory is opened from the one above it: from the root, the way to a block has eight of them."""
        directory = self._open_to_list(prefix, above=above, way=way)
        if directory is None:
            return
        try:
            level = self._level(directory, prefix)
            yield from level.objects
            for deeper in level.prefixes:
                yield from self._list_below(deeper, above=directory, way=[deeper.rpartition("/")[2]])
        finally:
            os.close(directory)

    def _open_to_list(self, prefix: str, *, above: int, way: list[str]) -> int | None:
        """A handle, to be closed; None if there is no such directory."""
        with translated(self._path(prefix), "list"):
            try:
                return _go(above, way)
            except FileNotFoundError:
                self._check_root()
                return None

    def _level(self, directory: int, prefix: str) -> Listing:
        objects, prefixes = [], []
        with translated(self._path(prefix), "list"), os.scandir(directory) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                key = f"{prefix}/{entry.name}" if prefix else entry.name
                if _TEMPORARY.fullmatch(entry.name):
                    self._meet(key)
                elif entry.is_dir(follow_symlinks=False):
                    prefixes.append(key)
                elif (found := _look(directory, entry.name)) is not None:
                    objects.append(_info(key, found))
        if not objects and not prefixes:
            self._check_root()
        return Listing(tuple(objects), tuple(prefixes))

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        with translated(self._path(key), "remove"):
            try:
                with self._parent(key) as (parent, name):
                    os.unlink(name, dir_fd=parent)
                    os.fsync(parent)
            except FileNotFoundError:
                self._check_root()

    def unfinished(self, prefix: str) -> list[str]:
        """See KeepsUnfinished."""
        with self._meeting:
            return sorted(key for key in self._met if key.startswith(f"{prefix}/"))

    def remove_empty(self, prefix: str) -> None:
        """See KeepsUnfinished."""
        for below in self.list_level(prefix).prefixes:
            self.remove_empty(below)
        with translated(self._path(prefix), "remove"):
            try:
                with self._parent(prefix) as (parent, name):
                    os.rmdir(name, dir_fd=parent)
                    os.fsync(parent)
            except OSError as error:
                if error.errno not in {errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
                    raise

    def _meet(self, key: str) -> None:
        with self._meeting:
            if len(self._met) < _MOST_LEFTOVERS:  # the others are for the next one who lists
                self._met.add(key)

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}"

    def _absent(self, key: str) -> NotFound:
        self._check_root()
        return NotFound(f"{self._path(key)} does not exist")

    def _check_root(self) -> None:
        """Absence below a root that is not there any more proves nothing."""
        try:
            now = os.stat(self._root)
        except OSError as error:
            raise StoreIdentityMissing(f"{self._root} is not there any more; is it mounted?") from error
        if not os.path.samestat(now, os.fstat(self._root_fd)):
            raise StoreIdentityMissing(f"{self._root} is not the directory that it was; was it mounted or unmounted?")

    @contextlib.contextmanager
    def _parent(self, key: str, *, create: bool = False, sync: bool = True) -> Iterator[tuple[int, str]]:
        *parts, name = _parts(key) or [""]
        if not name:
            raise InvalidInput("the empty key is no object")
        with self._directory(parts, create=create, sync=sync) as directory:
            yield directory, name

    @contextlib.contextmanager
    def _directory(self, parts: list[str], *, create: bool = False, sync: bool = True) -> Iterator[int]:
        if create:
            # Without this a vanished root would be written to where nobody ever looks again.
            self._check_root()
        directory = _go(self._root_fd, parts, create=create, sync=sync)
        try:
            yield directory
        finally:
            os.close(directory)


def _parts(key: str) -> list[str]:
    parts = key.split("/") if key else []
    if any(part in {"", ".", ".."} or "\0" in part for part in parts):
        raise InvalidInput(f"{key!r} cannot be a key")
    return parts


def _go(directory: int, way: list[str], *, create: bool = False, sync: bool = True) -> int:
    """A handle of the directory at the end of the way, to be closed."""
    here = os.dup(directory)
    for part in way:
        try:
            inner = _enter(here, part, create=create, sync=sync)
        finally:
            os.close(here)
        here = inner
    return here


def _enter(directory: int, part: str, *, create: bool, sync: bool) -> int:
    try:
        return os.open(part, _OPEN_DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        if not create:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, _DIRECTORY_MODE, dir_fd=directory)
        if sync:  # the new name must be durable before anything in it counts as durable
            os.fsync(directory)
    return os.open(part, _OPEN_DIRECTORY, dir_fd=directory)


def _read(parent: int, name: str, *, key: str, at_most: int) -> bytes:
    with _opened(parent, name) as handle:
        found = os.fstat(handle)
        if found.st_size > at_most:
            raise DamagedMetadata(f"{key} has {found.st_size} bytes; at most {at_most} were expected")
        with open(handle, "rb", buffering=0, closefd=False) as file:
            return file.readall()[:at_most]


def _read_part(parent: int, name: str, *, key: str, start: int, length: int) -> tuple[bytes, ObjectInfo]:
    with _opened(parent, name) as handle:
        found = os.fstat(handle)
        body = b""
        while len(body) < length and (more := os.pread(handle, length - len(body), start + len(body))):
            body += more
        return body, _info(key, found)


@contextlib.contextmanager
def _opened(parent: int, name: str) -> Iterator[int]:
    # Not blocking: a FIFO that lies in the store must not hold us for ever.
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    try:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise FileNotFoundError(errno.ENOENT, "it is a directory")
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def _temporary(parent: int, name: str, body: bytes, *, sync: bool) -> Iterator[str]:
    """A file, durable with `sync`, beside `name` that is gone afterwards, unless it got another name."""
    temporary = f"{name}.tmp.{secrets.token_hex(8)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE, dir_fd=parent)
    try:
        try:
            if sync:
                write_at(handle, body, 0)
                os.fsync(handle)
            else:
                # A flush comes later, and should then find little left to write.
                with DirectWriter(handle) as writer:
                    writer.write_at(body, 0)
        finally:
            os.close(handle)
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=parent)


def _name_if_free(parent: int, temporary: str, name: str) -> bool:
    """Give the file its name unless the name is taken: of two writers at once, the first one stays."""
    try:
        os.link(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # CIFS and some FUSE mounts: two writers at once may replace each other here, whole file by whole file.
        if _exists(parent, name):
            return False
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    return True


def _exists(parent: int, name: str) -> bool:
    return _look(parent, name) is not None


def _look(directory: int, name: str) -> os.stat_result | None:
    """What there is under this name, None if it went away. A link could hide or invent objects, so it is refused."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, f"{name} is a symbolic link, which a store may not hold")
    return found


def _info(key: str, found: os.stat_result) -> ObjectInfo:
    return ObjectInfo(key, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))

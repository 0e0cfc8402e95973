"""Trees in real stores: read in threads, and kept open for a while, since people go from directory to directory."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from tidegate.app.machine.daemon_threads import in_daemon_thread
from tidegate.app.machine.encryption_key import find_key
from tidegate.app.machine.in_time import in_time
from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.datapath.inspection.tree_index import Marker, TreeIndex, marker_of
from tidegate.datapath.inspection.tree_look import index_tree, read_file
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import InvalidInput, StoreBusy, StoreUnavailable
from tidegate.format.trees.entry import TreeEntry
from tidegate.objects.backoff import HURRIED
from tidegate.objects.open import open_store
from tidegate.ports.clock import Clock
from tidegate.ports.stored_trees import ChosenPart, DirectoryPage, TreePlace, whole_file

# A tree of a million files takes some hundred megabytes of the disk while it is kept.
_MOST_KEPT = 8
_KEPT_SECONDS = 300.0
# Each holds a thread and a block or two in memory.
_MOST_FILES = 8
# Reading the manifest of a million files from a far store; what is read by then is kept for the next try.
_OPENING_SECONDS = 50.0
_LOOK = "look into a tree"

Key = tuple[str, tuple[tuple[str, str], ...], str, str]


class ReadFile:
    """Keeps the promise of OpenedFile."""

    def __init__(self, opened: "_Opened", release: Callable[[], None]) -> None:
        self._entry, self._part, self._pieces = opened
        self._release: Callable[[], None] | None = release

    @property
    def entry(self) -> TreeEntry:
        """See OpenedFile."""
        return self._entry

    @property
    def part(self) -> range | None:
        """See OpenedFile."""
        return self._part

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        """See OpenedFile."""
        release, self._release = self._release, None
        if release is not None:
            release()


class KeptTrees:
    """Keeps the promise of StoredTrees. A tree is opened once, however many ask for it at the same time."""

    def __init__(self, store_probe: ThreadedStoreProbe, clock: Clock) -> None:
        self._store_probe = store_probe
        self._clock = clock
        self._trees: dict[Key, asyncio.Future[TreeIndex]] = {}
        self._used: dict[Key, float] = {}
        self._files = 0
        self._sweep: asyncio.TimerHandle | None = None

    async def directory(self, place: TreePlace, path: str, *, marker: str, limit: int) -> DirectoryPage:
        """See StoredTrees. The marker is the last name of the page before."""
        after = _read_marker(marker)
        index = await self._index(place)
        found = await in_daemon_thread(lambda: index.children(path, after=after, limit=limit + 1), name=_LOOK)
        shown = tuple(found[:limit])
        return DirectoryPage(shown, _write_marker(marker_of(shown[-1])) if len(found) > limit else None)

    async def open_file(self, place: TreePlace, path: str, *, part: ChosenPart = whole_file) -> ReadFile:
        """See StoredTrees."""
        index = await self._index(place)
        if self._files >= _MOST_FILES:
            raise StoreBusy(f"{_MOST_FILES} files are being downloaded already", hint="try again when one is done")
        self._files += 1
        try:
            opening = in_daemon_thread(lambda: _open(index, place, path, part), name=_LOOK)
            opened = await in_time(opening, place.access.url)
        except BaseException:
            self._files -= 1
            raise
        return ReadFile(opened, self._file_closed)

    def close(self) -> None:
        """Forget all."""
        if self._sweep is not None:
            self._sweep.cancel()
        self._trees.clear()
        self._used.clear()

    def _file_closed(self) -> None:
        self._files -= 1

    async def _index(self, place: TreePlace) -> TreeIndex:
        access = place.access
        key = (access.url, tuple(sorted(access.credentials.items())), place.store_volume, place.store_backup)
        opening = self._trees.get(key)
        if opening is None or (opening.done() and opening.exception() is not None):
            await self._store_probe.check(access)  # a store that hangs is looked at by one thread only
            opening = self._trees.get(key)  # somebody else may have begun meanwhile
        if opening is None or (opening.done() and opening.exception() is not None):
            self._make_room()
            opening = self._trees[key] = in_daemon_thread(lambda: _read_index(place), name=_LOOK)
        self._used[key] = self._clock.monotonic()
        self._sweep_later()
        try:
            async with asyncio.timeout(_OPENING_SECONDS):
                return await asyncio.shield(opening)
        except TimeoutError:
            raise StoreUnavailable(
                f"the list of files of backup {place.store_backup} is still being read", hint="try again in a moment"
            ) from None

    def _make_room(self) -> None:
        """Whoever was not asked for the longest goes; one that is still being opened may be waited for."""
        ready = sorted((key for key, one in self._trees.items() if one.done()), key=lambda key: self._used[key])
        if len(self._trees) - len(ready) >= _MOST_KEPT:
            raise StoreBusy(f"the files of {_MOST_KEPT} backups are being listed already", hint="try again in a moment")
        for key in ready[: max(0, len(self._trees) - _MOST_KEPT + 1)]:
            self._forget(key)

    def _forget(self, key: Key) -> None:
        del self._trees[key], self._used[key]

    def _sweep_later(self) -> None:
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._drop_old)

    def _drop_old(self) -> None:
        self._sweep = None
        now = self._clock.monotonic()
        for key in [key for key, used in self._used.items() if now - used >= _KEPT_SECONDS and self._trees[key].done()]:
            self._forget(key)
        if self._trees:
            self._sweep_later()


def _stored(place: TreePlace) -> StoredVolume:
    access = place.access
    objects = open_store(access, patience=HURRIED)
    return StoredVolume(objects, place.store_volume, key=find_key(access.credentials))


def _read_index(place: TreePlace) -> TreeIndex:
    return index_tree(_stored(place), place.store_backup)


class _Opened(NamedTuple):
    entry: TreeEntry
    part: range | None
    pieces: Iterator[bytes]


def _open(index: TreeIndex, place: TreePlace, path: str, choose: ChosenPart) -> _Opened:
    """The file with its first piece read: what is wrong with that can still be told in a sentence."""
    entry = index.file(path)
    part = choose(entry.size)
    wanted = entry if part is None else entry.part(part)
    pieces = read_file(_stored(place), place.store_backup, wanted)
    return _Opened(entry, part, chain([next(pieces, b"")], pieces))


def _write_marker(marker: Marker) -> str:
    return f"{marker.leaf}{quote(marker.name, safe='')}"


def _read_marker(text: str) -> Marker:
    if not text:
        return Marker()
    if text[0] not in "01":
        raise InvalidInput(f"{text[:80]!r} is no marker of a list of files", field="marker", hint="leave it out")
    return Marker(int(text[0]), unquote_to_bytes(text[1:]))

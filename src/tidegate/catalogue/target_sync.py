"""One target: list its volumes, compare, drop what is gone, bring each volume up to date.

The seed's algorithm, but that new volumes are read while others are still being listed: in a store far away listing
is mostly waiting, and reading mostly work. The store is only looked at: a reader cannot change it. What could not be
listed counts as still there.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from tidegate.catalogue.cfg_reading import message_of
from tidegate.catalogue.changes import VolumeMark
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.flow import Flow
from tidegate.catalogue.progress import SyncProgress, SyncStage
from tidegate.catalogue.volume_sync import Tools, index_room, sync_volume
from tidegate.decide.stores.catalogue_diff import HeldBack, VolumesPlan, ignored_message, plan_volumes
from tidegate.errors import NotFound, StoreUnavailable, TidegateError
from tidegate.format.cfgs.paths import LOCKS_OF_IMAGES, VOLUMES, check_name, volume_dir, volume_name_of
from tidegate.ports.clock import Clock
from tidegate.ports.store_reader import StoreReader

# A volume under way holds its listing, so more of them at once cost memory. Some of them ask nothing, because they are
# being decoded or written, so fewer would leave requests unused.
_MOST_VOLUMES = 96
_TOUCH_BATCH = 500
_SPREAD = re.compile(r"[0-9a-f]{2}")


@dataclass(frozen=True, kw_only=True)
class SyncOrder:
    """What is to be synced."""

    target: str
    volume: str = ""
    """Only this one; empty for all."""
    confirmed: str = ""
    """The mark of vanished volumes that a person has confirmed."""
    moved: bool = False
    """Whether the target names another place than the last time."""
    forced: bool = False
    """Look at everything, also at what is not likely to have changed."""
    turn: int = 0
    """Counts syncs, so that each looks at another share of what seldom changes."""


@dataclass(frozen=True, kw_only=True)
class SyncOutcome:
    """What came of it. With errors something was left for the next time; all the rest is in the catalogue."""

    started_at: datetime
    volumes: int
    held_back: HeldBack | None = None
    ignored: str = ""
    errors: tuple[str, ...] = ()
    error_count: int = 0


@dataclass
class _Names:
    """The volumes that a store lists."""

    found: set[str] = field(default_factory=set)
    ignored: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    """Directories that could not be listed: what the catalogue knows of them stays."""

    def may_have(self, volume: str) -> bool:
        """Whether the volume may lie where nobody could look."""
        return any(volume_dir(volume).startswith(f"{prefix}/") for prefix in self.unlisted)


class TargetSync:
    """One sync. Raises what the store raises when nothing could be found out at all."""

    def __init__(
        self, order: SyncOrder, reader: StoreReader, catalogue: SqliteCatalogue, clock: Clock, progress: SyncProgress
    ) -> None:
        self._order = order
        self._progress = progress
        self._tools = Tools(
            target=order.target,
            reader=reader,
            # Twice as many as can be under way: the next one is ready when an answer comes.
            flow=Flow(2 * reader.requests_in_flight),
            catalogue=catalogue,
            clock=clock,
            progress=progress,
            indexes=index_room(),
            forced=order.forced or bool(order.volume),
            turn=order.turn,
        )
        self._untouched: list[str] = []

    async def run(self) -> SyncOutcome:
        """All of it, or the one volume."""
        if self._order.volume:
            return await self._one_volume(check_name(self._order.volume, what="volume"))
        known = await self._tools.catalogue.volume_marks(self._order.target)
        async with self._readers(known) as backlog:
            # What is new is safe to add, whatever else the listing will tell; most of a first sync is nothing else.
            names = await self._list_volumes(lambda name: None if name in known else backlog.add(name))
            plan = await self._planned(names, known)
            # New ones first: they are what somebody may be looking for.
            for name in (*plan.pull, *plan.look):
                if name in names.found:
                    backlog.add(name)
            self._progress.enter(SyncStage.READING, total=backlog.seen)
        self._progress.stage = SyncStage.DONE
        return self._outcome(len(names.found), held_back=plan.held_back, ignored=names.ignored)

    async def _planned(self, names: _Names, known: dict[str, VolumeMark]) -> VolumesPlan:
        """What is left to read; what is gone is dropped."""
        catalogue, target = self._tools.catalogue, self._order.target
        unseen = {name for name in known if names.unlisted and names.may_have(name)}
        plan = plan_volumes(
            known.keys(), names.found | unseen, confirmed=self._order.confirmed, moved=self._order.moved
        )
        self._progress.enter(SyncStage.DROPPING, total=len(plan.drop))
        for name in plan.drop:
            await catalogue.drop_volume(target, name)
            self._progress.done += 1
        return plan

    async def _one_volume(self, volume: str) -> SyncOutcome:
        catalogue, target = self._tools.catalogue, self._order.target
        self._progress.enter(SyncStage.READING, total=1)
        known = await catalogue.volume_marks(target, volume)
        listing = await self._tools.flow.ask(lambda: self._tools.reader.list_level(volume_dir(volume)))
        if listing.objects or listing.prefixes:
            async with self._readers(known) as backlog:
                backlog.add(volume)
        elif known:
            await self._check_that_others_are_there(volume)
            await catalogue.drop_volume(target, volume)
        self._progress.stage = SyncStage.DONE
        return self._outcome(1)

    async def _check_that_others_are_there(self, volume: str) -> None:
        """A store that has lost one volume has others; one that lists none at all may not be mounted."""
        catalogue, target = self._tools.catalogue, self._order.target
        wanted_gone = {name for name, backup in await catalogue.hidden(target) if not backup}
        others = (await catalogue.volume_marks(target)).keys() - wanted_gone - {volume}
        if others and not (await self._tools.flow.ask(lambda: self._tools.reader.list_level(VOLUMES))).prefixes:
            raise StoreUnavailable(
                f"the store lists no volume at all, but had {len(others) + 1}; {volume} is still listed",
                hint="is it mounted? If all are really gone, sync the whole target and confirm it",
            )

    def _outcome(
        self, volumes: int, *, held_back: HeldBack | None = None, ignored: list[str] | None = None
    ) -> SyncOutcome:
        return SyncOutcome(
            started_at=self._progress.started_at,
            volumes=volumes,
            held_back=held_back,
            ignored=ignored_message(ignored or [], what="volumes"),
            errors=tuple(self._progress.sentences),
            error_count=self._progress.errors,
        )

    async def _list_volumes(self, on_found: Callable[[str], None]) -> _Names:
        """By the three levels below which Longhorn spreads them. The first one must answer; others are missed."""
        names = _Names()

        def note(prefixes: Iterable[str]) -> None:
            for prefix in prefixes:
                name = volume_name_of(prefix)
                if not name:
                    names.ignored.append(prefix.rpartition("/")[2])
                elif name != LOCKS_OF_IMAGES:
                    names.found.add(name)
                    on_found(name)

        flow, reader = self._tools.flow, self._tools.reader
        level = list((await flow.ask(lambda: reader.list_level(VOLUMES))).prefixes)
        below: list[str] = []
        await self._list_each(self._spread(level, names), names, below.extend)
        await self._list_each(self._spread(below, names), names, note)
        return names

    @staticmethod
    def _spread(prefixes: list[str], names: _Names) -> list[str]:
        """Those that are two digits; nothing of ours or Longhorn's is in the others."""
        last = {prefix: prefix.rpartition("/")[2] for prefix in prefixes}
        names.ignored.extend(name for name in last.values() if not _SPREAD.fullmatch(name))
        return [prefix for prefix, name in last.items() if _SPREAD.fullmatch(name)]

    async def _list_each(self, prefixes: list[str], names: _Names, on_listed: Callable[[Iterable[str]], None]) -> None:
        missed = len(names.unlisted)
        self._progress.enter(SyncStage.LISTING, total=len(prefixes))

        async def one(prefix: str) -> None:
            try:
                on_listed((await self._tools.flow.ask(lambda: self._tools.reader.list_level(prefix))).prefixes)
            except TidegateError as error:
                if self._tools.flow.ends_all(error):
                    raise
                names.unlisted.append(prefix)
                self._progress.failed(f"listing {prefix}", error)
            self._progress.done += 1

        await _side_by_side((partial(one, prefix) for prefix in prefixes), self._width)
        if prefixes and len(names.unlisted) - missed == len(prefixes):
            raise StoreUnavailable(f"none of {len(prefixes)} directories of volumes could be listed")

    @asynccontextmanager
    async def _readers(self, known: dict[str, VolumeMark]) -> AsyncIterator["_Backlog"]:
        """Whatever is put into the backlog is read, from now on; left when all of it is."""
        began = self._tools.clock.now()
        backlog = _Backlog()

        async def one(volume: str) -> None:
            try:
                if not await sync_volume(self._tools, volume, known.get(volume)):
                    self._untouched.append(volume)
            except NotFound:
                pass  # it went away since it was listed; the next sync sees that
            except TidegateError as error:
                if self._tools.flow.ends_all(error):
                    raise
                self._progress.failed(f"volume {volume}", error)
                await self._tools.catalogue.blame(self._order.target, volume, message_of(error))
            self._progress.volume_done(volume)
            if len(self._untouched) >= _TOUCH_BATCH:
                await self._touch(began)

        async def reader() -> None:
            while (volume := await backlog.next()) is not None:
                self._progress.volume_begun(self._tools.clock.now())
                await one(volume)

        async with _first_error_alone(), asyncio.TaskGroup() as group:
            for _ in range(self._width):
                group.create_task(reader())
            yield backlog
            backlog.close()
        await self._touch(began)

    async def _touch(self, began: datetime) -> None:
        volumes, self._untouched = self._untouched, []
        if volumes:
            await self._tools.catalogue.touch(self._order.target, volumes, began)

    @property
    def _width(self) -> int:
        return min(_MOST_VOLUMES, max(2, 2 * self._tools.reader.requests_in_flight))


class _Backlog:
    """Volumes that are still to be read, each once, in the order in which they became known."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue()
        self._seen: set[str] = set()

    @property
    def seen(self) -> int:
        """How many there are in all, those that are read already included."""
        return len(self._seen)

    def add(self, volume: str) -> None:
        if volume not in self._seen:
            self._seen.add(volume)
            self._waiting.put_nowait(volume)

    def close(self) -> None:
        """No more come."""
        self._waiting.put_nowait(None)

    async def next(self) -> str | None:
        """None at the end, for everybody who asks."""
        volume = await self._waiting.get()
        if volume is None:
            self.close()
        return volume


Work = Callable[[], Awaitable[None]]


async def _side_by_side(works: Iterator[Work], width: int) -> None:
    """All of them, `width` at a time, begun in order. The first error ends all."""

    async def worker() -> None:
        for work in works:
            await work()

    async with _first_error_alone(), asyncio.TaskGroup() as group:
        for _ in range(width):
            group.create_task(worker())


@asynccontextmanager
async def _first_error_alone() -> AsyncIterator[None]:
    """Whoever asked for a sync is told one reason, not a group of them."""
    try:
        yield
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None

"""One volume: list its backups, compare, read what is new, write it down in batches.

A crash between two batches costs nothing: what was written is not read again, and the volume's mark comes last.
"""

import asyncio
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from tidegate.catalogue.cfg_reading import CfgReader, FoundCfg, mark_of, unread
from tidegate.catalogue.changes import FoundBackup, FoundVolume, VolumeChange, VolumeMark, found_in_index
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.flow import Flow
from tidegate.catalogue.progress import SyncProgress
from tidegate.decide.stores.catalogue_diff import CfgLook, look_at_cfg, plan_backups
from tidegate.errors import NotFound, StoreUnavailable, TidegateError, Unauthenticated
from tidegate.format.cfgs.object_mark import listing_mark
from tidegate.format.cfgs.paths import backup_name_of, backups_dir, volume_dir
from tidegate.format.cfgs.times import to_seconds
from tidegate.format.cfgs.volume_index import INDEX_NAME, INDEX_WORTH
from tidegate.model.stores.catalogue import BackupState, StoredVolumeRecord
from tidegate.ports.clock import Clock
from tidegate.ports.store_reader import Listing, ObjectInfo, StoreReader

_BATCH = 500
_MOST_INDEXES = 8
_SMALL_INDEX = 256 * 1024
# Who may not read so many cfgs of a volume will not get the others either.
_MOST_REFUSED = 8


@dataclass(frozen=True)
class Tools:
    """What all volumes of one sync share."""

    target: str
    reader: StoreReader
    flow: Flow
    catalogue: SqliteCatalogue
    clock: Clock
    progress: SyncProgress
    indexes: asyncio.Semaphore
    """Decoded indexes are large: few at a time."""
    forced: bool = False
    turn: int = 0


def index_room() -> asyncio.Semaphore:
    """Room for decoded indexes."""
    return asyncio.Semaphore(_MOST_INDEXES)


@dataclass(frozen=True)
class _Listed:
    """The backups directory: cfgs by the name of their backup, and the index."""

    cfgs: Mapping[str, ObjectInfo]
    marks: dict[str, int]
    index: ObjectInfo | None

    @classmethod
    def of(cls, listing: Listing) -> "_Listed":
        cfgs = {name: info for info in listing.objects if (name := backup_name_of(info.key))}
        index = next((info for info in listing.objects if info.key.endswith(f"/{INDEX_NAME}")), None)
        return cls(cfgs, {name: mark_of(info) for name, info in cfgs.items()}, index)


@dataclass
class _News:
    """What was new among the backups of a volume."""

    complete: bool = True
    """Whether all of it was read and written."""
    newest: int | None = None

    def hear(self, backups: Iterable[FoundBackup]) -> None:
        moments = [one.snapshot_created for one in backups if one.state is BackupState.COMPLETED]
        self.newest = max((moment for moment in (self.newest, *moments) if moment is not None), default=None)

    def known_to(self, volume: StoredVolumeRecord, listed: Mapping[str, int]) -> bool:
        """Whether volume.cfg was written after all of this: it points to a backup that is there, and none is newer."""
        if not volume.last_backup_name:
            return not listed
        newest, last = self.newest, to_seconds(volume.last_backup_at)
        return volume.last_backup_name in listed and (newest is None or (last is not None and newest <= last))


async def sync_volume(tools: Tools, volume: str, mark: VolumeMark | None) -> bool:
    """Bring the catalogue's view of one volume up to date; returns False where only `touch` is left to do.

    Raises what the store raises; what the catalogue has of the volume is then left as it was, and looked at again.
    """
    began = tools.clock.now()
    listed = _Listed.of(await tools.flow.ask(lambda: tools.reader.list_level(backups_dir(volume))))
    listing = listing_mark(listed.marks.items())
    changed = mark is None or mark.listing_mark != listing
    look = look_at_cfg(
        volume,
        known=mark is not None,
        changed=changed,
        settled=mark is not None and mark.settled,
        faulty=mark is not None and mark.faulty,
        forced=tools.forced,
        turn=tools.turn,
    )
    cfgs = CfgReader(tools.reader, tools.flow, tools.clock, volume)
    cfg = await _volume_cfg(tools, cfgs, mark, look)
    if not changed and cfg is None:
        return False
    news = await _backups(tools, cfgs, listed) if changed else _News()
    found = FoundVolume(
        listing_mark=listing if news.complete else None,
        settled=not changed or (cfg is not None and cfg.record is not None and news.known_to(cfg.record, listed.marks)),
        synced_at=began,
        record=cfg.record if cfg else None,
        cfg_mark=cfg.mark if cfg else None,
        messages=cfg.messages if cfg else None,
    )
    await tools.catalogue.apply(VolumeChange(target=tools.target, volume=volume, found=found))
    tools.progress.volumes_changed += 1
    return True


async def _volume_cfg(tools: Tools, cfgs: CfgReader, mark: VolumeMark | None, look: CfgLook) -> FoundCfg | None:
    """The volume.cfg, if it may say something new. A known one is first looked at from outside: that reads nothing."""
    if look is CfgLook.NOT_NOW:
        return None
    if mark is not None and mark.cfg_mark is not None:
        listing = await tools.flow.ask(lambda: tools.reader.list_level(volume_dir(cfgs.volume)))
        shown = next((info for info in listing.objects if info.key.endswith("/volume.cfg")), None)
        if shown is not None and mark_of(shown) == mark.cfg_mark and not mark.faulty:
            return None
        if shown is not None:
            found = await tools.flow.ask(cfgs.volume_cfg)
            # By the mark of the listing: that is what the next sync will compare.
            return FoundCfg(mark_of(shown), found.record, found.messages) if found.record else found
    return await tools.flow.ask(cfgs.volume_cfg)


async def _backups(tools: Tools, cfgs: CfgReader, listed: _Listed) -> _News:
    known = await tools.catalogue.backup_marks(tools.target, cfgs.volume)
    plan = plan_backups(known, listed.marks)
    if plan.suspicious and not listed.cfgs and await tools.flow.ask(lambda: cfgs.is_there(plan.suspicious)):
        raise StoreUnavailable(f"the store has backup {plan.suspicious} of volume {cfgs.volume} but does not list it")
    news = _News()
    batches = _Batches(tools, cfgs.volume, news, known.keys(), len(plan.read))
    rest = list(plan.read)
    if listed.index is not None and len(rest) >= INDEX_WORTH:
        rest = await _from_index(tools, cfgs, listed, rest, batches)
    await batches.read(cfgs, listed.cfgs, rest)
    for start in range(0, len(plan.drop), _BATCH):
        await batches.write(vanished=plan.drop[start : start + _BATCH])
    return news


async def _from_index(
    tools: Tools, cfgs: CfgReader, listed: _Listed, wanted: list[str], batches: "_Batches"
) -> list[str]:
    """Write what the index proves; returns what is left to be read."""
    index = listed.index
    if index is None:
        return wanted
    small = index.size <= _SMALL_INDEX
    # A far store takes its time: whoever waits for a small one holds no room meanwhile.
    body = await tools.flow.ask(lambda: cfgs.index(index)) if small else b""
    async with tools.indexes:
        if not small:
            body = await tools.flow.ask(lambda: cfgs.index(index))
        entries = cfgs.proven_by(body, listed.marks)
        proven = [name for name in wanted if name in entries]
        for start in range(0, len(proven), _BATCH):
            names = proven[start : start + _BATCH]
            await batches.write(
                backups=[found_in_index(entries[name], listed.cfgs[name].modified_at) for name in names]
            )
            tools.progress.backups_from_index += len(names)
            batches.tell(len(names))
        return [name for name in wanted if name not in entries]


class _Batches:
    """Backups of one volume on their way from the store to the database."""

    def __init__(self, tools: Tools, volume: str, news: _News, known: Collection[str], planned: int) -> None:
        self._tools = tools
        self._volume = volume
        self._news = news
        self._known = known
        self._planned = planned
        self._refused = 0

    def tell(self, backups: int) -> None:
        """So many more of those that were planned are read."""
        self._tools.progress.part_read(self._volume, backups / self._planned)

    async def read(self, cfgs: CfgReader, infos: Mapping[str, ObjectInfo], names: list[str]) -> None:
        """Read these cfgs, many at once; one that cannot be read holds up no other."""
        waiting: deque[tuple[str, asyncio.Task[FoundBackup]]] = deque()
        batch: list[FoundBackup] = []
        try:
            for name in names:
                waiting.append((name, await self._tools.flow.begin(partial(cfgs.backup, name, infos[name]))))
                while waiting and (waiting[0][1].done() or len(waiting) > _BATCH):
                    await self._take(*waiting.popleft(), infos, batch)
                if len(batch) >= _BATCH:
                    await self.write(backups=batch)
                    batch = []
            while waiting:
                await self._take(*waiting.popleft(), infos, batch)
            if batch:
                await self.write(backups=batch)
        finally:
            for _, task in waiting:
                task.cancel()

    async def _take(
        self,
        name: str,
        task: "asyncio.Task[FoundBackup]",
        infos: Mapping[str, ObjectInfo],
        batch: list[FoundBackup],
    ) -> None:
        try:
            batch.append(await task)
            self._tools.progress.backups_read += 1
            self.tell(1)
        except NotFound:
            self._news.complete = False  # it went away since it was listed
        except TidegateError as error:
            self._refused += isinstance(error, Unauthenticated)
            if self._tools.flow.ends_all(error) or self._refused >= _MOST_REFUSED:
                raise
            self._news.complete = False
            self._tools.progress.failed(f"backup {name} of volume {self._volume}", error)
            if name not in self._known:
                batch.append(unread(name, infos[name], error))

    async def write(self, *, backups: list[FoundBackup] | None = None, vanished: tuple[str, ...] = ()) -> None:
        """One short transaction."""
        self._news.hear(backups or ())
        await self._tools.catalogue.apply(
            VolumeChange(target=self._tools.target, volume=self._volume, backups=backups or (), vanished=vanished)
        )

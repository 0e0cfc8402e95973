"""How long a freed slot of the restore limit stays empty while others wait: from one stored version to the next.

All controllers over a database on disk. Once with movers that are done at once, so that slots change hands as often as
they can; once with real mover processes that restore a small image each.
"""

import asyncio
import os
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles

import structlog

from bench.resource_store import WallClock
from bench.rows import Row
from tidegate.app.machine.collector import search_seldom
from tidegate.app.processes.child_movers import ChildMovers
from tidegate.app.processes.children import Children
from tidegate.app.processes.workshop import real_workshop
from tidegate.app.wiring import build_work
from tidegate.datapath.work import carry_out
from tidegate.decide.transfers.restore_limit import IN_PROGRESS, RESTORE_PRIORITY_LABEL
from tidegate.model.resource import Metadata, Resource
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.transfers.mover_job import ResultReport, TargetAccess, UploadJob
from tidegate.model.transfers.transfer import DOWNLOADS, DataDownload, Transfer, TransferPhase, TransferSpec
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.resources.sqlite import SqliteStore
from tidegate.state.merged_watch import versions_now, watch_kinds
from tidegate.testing.doubles.movers import FakeMovers
from tidegate.testing.doubles.platform import a_platform
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_node, a_target
from tidegate.testing.resources.put import put

WAITING = 2000
REAL = 1000
LIMIT = 5
TARGET_MS = 100.0
_THEN = datetime(2026, 1, 1, tzinfo=UTC)
_BACKUP = "backup-0123456789abcdef"
# Restores of one volume wait for each other's locks at the start; most people restore many volumes.
_VOLUMES = [f"bench.v{number:02}" for number in range(40)]


def run() -> Sequence[Row]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))  # a line per step is not measured
    try:
        rows: list[Row] = []
        for real in (False, True):
            with tempfile.TemporaryDirectory() as place:
                rows += _rows(asyncio.run(_measure(Path(place), real=real)), real=real)
        return rows
    finally:
        structlog.reset_defaults()


def _rows(seen: "_Onlooker", *, real: bool) -> list[Row]:
    words = f"{REAL:,} restores with movers" if real else f"{WAITING:,} restores that take no time"
    taken, moving = (quantiles(seconds, n=100) for seconds in (seen.taken, seen.moving))
    return [
        Row(f"{words}: a freed slot is taken, median", taken[49] * 1e3, "ms"),
        Row(f"{words}: a freed slot is taken, p99", taken[98] * 1e3, "ms", target=TARGET_MS, better="less"),
        Row(f"{words}: the next one moves bytes, median", moving[49] * 1e3, "ms"),
        Row(f"{words}: the next one moves bytes, p99", moving[98] * 1e3, "ms"),
    ]


@dataclass
class _Onlooker:
    """Matches every end with the one that got its slot, the first with the first."""

    taken: list[float] = field(default_factory=list)
    """Seconds from an end to the label of the next one."""
    moving: list[float] = field(default_factory=list)
    """Seconds from an end to the next one's InProgress."""
    ended: int = 0
    _free: deque[float] = field(default_factory=deque)
    _freed_for: dict[str, float] = field(default_factory=dict)
    _seen: set[tuple[str, str]] = field(default_factory=set)

    async def look(self, store: SqliteStore, since: Mapping[type[Resource], str], *, expected: int) -> None:
        """Until all are over."""
        async for event in watch_kinds(store, since):
            transfer = event.resource
            assert isinstance(transfer, Transfer)  # nothing else is watched
            self._note(transfer, time.perf_counter())
            if self.ended == expected:
                return

    def _note(self, transfer: Transfer, now: float) -> None:
        phase = transfer.status.phase
        has_slot = transfer.metadata.labels.get(RESTORE_PRIORITY_LABEL) == IN_PROGRESS
        if has_slot and self._first(transfer, "slot") and self._free:
            self._freed_for[transfer.name] = self._free.popleft()
            self.taken.append(now - self._freed_for[transfer.name])
        if phase is TransferPhase.IN_PROGRESS and self._first(transfer, "moves") and transfer.name in self._freed_for:
            self.moving.append(now - self._freed_for[transfer.name])
        if phase.final and self._first(transfer, "end"):
            if phase is not TransferPhase.COMPLETED:
                raise RuntimeError(transfer.status.message)
            self.ended += 1
            self._free.append(now)

    def _first(self, transfer: Transfer, what: str) -> bool:
        before = len(self._seen)
        self._seen.add((transfer.name, what))
        return len(self._seen) > before


async def _measure(place: Path, *, real: bool) -> _Onlooker:
    count, clock = (REAL if real else WAITING), WallClock()
    store = await SqliteStore.open(place / "db", clock=clock, new_id=counting_ids())
    url = f"file://{place}/store"
    if real:
        _store_all(place, url)
    settings = {"concurrent-backup-restore-limit": str(LIMIT), "load-concurrency": '{"globalConfig": 50}'}
    await store.create(a_target("store").with_spec(url=url))
    await put(store, a_node())
    for name, value in settings.items():
        await store.create(Setting(metadata=Metadata(name=name), spec=SettingSpec(value=value)))
    for number in range(count):
        await store.create(_download(number, place / f"back-{number}"))
    movers = ChildMovers(Children(place / "maps")) if real else FakeMovers(obliging=True)
    work = build_work(a_platform(store, clock, movers=movers))
    search_seldom()  # as the server does
    seen = _Onlooker()
    since = await versions_now(store, DOWNLOADS)
    work.runtime.start()
    await seen.look(store, since, expected=count)
    await work.runtime.stop()
    await work.movers.close()
    await store.close()
    return seen


def _store_all(place: Path, url: str) -> None:
    (place / "store").mkdir()
    (place / "image").write_bytes(os.urandom(64 * 1024))
    for volume in _VOLUMES:
        _store(place, url, volume)


def _store(place: Path, url: str, volume: str) -> None:
    job = UploadJob(
        target=TargetAccess(url=url),
        store_volume=volume,
        store_backup=_BACKUP,
        volume_kind=VolumeKind.IMAGE,
        path=str(place / "image"),
        snapshot_name="s",
        started_at=_THEN,
    )
    said: list[object] = []
    carry_out(job, real_workshop(), report=said.append, cancelled=threading.Event())
    if not isinstance(said[-1], ResultReport):
        raise RuntimeError(said[-1])  # noqa: TRY004  # it is what a mover said


def _download(number: int, path: Path) -> Transfer:
    asked = str(int((_THEN + timedelta(seconds=number)).timestamp()) * 10**9)
    return DataDownload(
        metadata=Metadata(name=f"r{number:05}", labels={RESTORE_PRIORITY_LABEL: asked}),
        spec=TransferSpec(
            volume_namespace="bench",
            volume_name=f"v{number:05}",
            volume_kind=VolumeKind.IMAGE,
            path=str(path),
            target="store",
            store_volume=_VOLUMES[number % len(_VOLUMES)],
            store_backup=_BACKUP,
        ),
    )

"""What a long backup queue costs: a pass, the writes of draining it, the memory of each one that waits."""

import asyncio
import gc
import random
import time
import tracemalloc
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random

import structlog

from bench.resource_store import WallClock
from bench.rows import Row
from tidegate.controllers.queue.backup_queue import BackupQueue
from tidegate.controllers.runtime import Runtime
from tidegate.decide.queue.plan import plan_admissions
from tidegate.decide.queue.surroundings import Surroundings
from tidegate.model.backups.backup import Backup, BackupPhase, BackupSpec, BackupStatus
from tidegate.model.resource import Condition, Metadata
from tidegate.model.setting import Setting, SettingSpec
from tidegate.state.queue import QueueTable
from tidegate.state.server_state import ServerState
from tidegate.testing.resources.counting_store import CountingStore

NAMESPACES = tuple(f"team-{number:04}" for number in range(1_000))
LIMIT = 10
DRAINED = 10_000
BEST_OF = 15
_THEN = datetime(2026, 1, 1, tzinfo=UTC)


def run() -> Sequence[Row]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))  # a line per backup is not measured
    try:
        return [*_passes(), *asyncio.run(_drain()), *_memory()]
    finally:
        structlog.reset_defaults()


def _passes() -> list[Row]:
    small, large = _pass_seconds(10_000), _pass_seconds(100_000)
    return [
        Row("one pass over 10,000 queued, 1,000 namespaces", small * 1_000, "ms", target=50, better="less"),
        Row("one pass over 100,000 queued, 1,000 namespaces", large, "s", target=1, better="less"),
        Row("ten times the queue", large / small, "x"),
    ]


def _pass_seconds(queued: int) -> float:
    """The best of a few: every pass judges the whole queue, after a change in it."""
    table = QueueTable()
    table.replace_all(_backups(queued))
    around = Surroundings(namespaces=frozenset(NAMESPACES), head_start_seconds=600)
    best = float("inf")
    for number in range(BEST_OF):
        table.note(sample_backup(queued + number))
        began = time.perf_counter()
        plan_admissions(table.snapshot(around), limit=LIMIT)
        best = min(best, time.perf_counter() - began)
    return best


async def _drain() -> list[Row]:
    """New, Queued, ReadyToStart through the real queue; each is over at once when it is ready."""
    clock, ids = WallClock(), count()
    store = CountingStore(clock=clock, new_id=lambda: str(next(ids)))
    await store.create(Setting(metadata=Metadata(name="concurrent-backups"), spec=SettingSpec(value=str(LIMIT))))
    for number in range(DRAINED):
        await store.create(sample_backup(number, phase=BackupPhase.NEW))
    state = ServerState(store, clock, Random(1))
    runtime = Runtime(state, clock, Random(1), [BackupQueue(state, clock, asyncio.Lock())])
    began = time.perf_counter()
    runtime.start()
    ended = 0
    async for event in store.watch(Backup, since=(await store.list(Backup, limit=1)).resource_version):
        backup = event.resource
        if isinstance(backup, Backup) and backup.status.phase is BackupPhase.READY_TO_START:
            await store.update_status(backup.with_status(phase=BackupPhase.COMPLETED))
            ended += 1
            if ended == DRAINED:
                break
    seconds = time.perf_counter() - began
    await runtime.stop()
    of_the_queue = store.writes - ended
    return [
        Row(f"draining {DRAINED:,}: writes of the queue for each", of_the_queue / DRAINED, "", 4, "less"),
        Row(f"draining {DRAINED:,}", DRAINED / seconds, "1/s"),
    ]


def _memory() -> list[Row]:
    """Beside the stored form: what the table keeps once nobody holds the resources any more."""
    queued = 100_000
    tracemalloc.start()
    table = QueueTable()
    for backup in _backups(queued):
        table.note(backup)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return [Row(f"memory for each of {len(table):,} queued", kept / queued, "B", target=1024, better="less")]


def _backups(queued: int) -> Iterable[Backup]:
    return (sample_backup(number) for number in range(queued))


def sample_backup(number: int, phase: BackupPhase = BackupPhase.QUEUED) -> Backup:
    """Most want one namespace, some a few, a few all of a kind, and one in a hundred everything but some."""
    chance = random.Random(number)
    kind = number % 100
    included: tuple[str, ...] = (chance.choice(NAMESPACES),)
    excluded: tuple[str, ...] = ()
    if kind == 0 and number:
        included, excluded = (), tuple(chance.sample(NAMESPACES, 3))
    elif kind == 1:
        included = (f"team-{number // 100 % 10}*",)
    elif kind < 20:
        included = tuple(chance.sample(NAMESPACES, 4))
    queued = phase is BackupPhase.QUEUED
    message = f"backup backup-{number - 1:06} is ahead in the queue and shares namespace {included or '*'}"
    waiting = Condition(type="Waiting", status="True", reason="NamespaceOverlapQueued", message=message)
    moment = _THEN + timedelta(seconds=number)
    return Backup(
        metadata=Metadata(name=f"backup-{number:06}", creation_timestamp=moment),
        spec=BackupSpec(
            included_namespaces=included, excluded_namespaces=excluded, storage_location="store", priority=number % 3
        ),
        status=BackupStatus(
            phase=phase,
            queue_ticket=int(moment.timestamp() * 1e6) if queued else None,
            queued_at=moment if queued else None,
            conditions=(waiting,) if queued else (),
        ),
    )

"""What many waiting transfers cost: a pass, the writes of draining them, the reads while nothing happens, memory."""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random

import structlog

from bench.resource_store import WallClock
from bench.rows import Row
from tidegate.controllers.runtime import Runtime
from tidegate.controllers.transfers.gates import TransferGates
from tidegate.decide.transfers.gate_surroundings import GateSurroundings
from tidegate.decide.transfers.gates import plan_accepts, plan_starts
from tidegate.decide.transfers.waits import TransferWaits
from tidegate.model.reasons import Reason
from tidegate.model.resource import Metadata, Resource
from tidegate.model.setting import Setting, SettingSpec, effective_settings
from tidegate.model.transfers.node import Node, NodeStatus
from tidegate.model.transfers.transfer import TRANSFERS, DataDownload, DataUpload, Transfer, TransferPhase, TransferSpec
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.ports.clock import Clock
from tidegate.resources.memory import MemoryStore
from tidegate.state.merged_watch import versions_now, watch_kinds
from tidegate.state.server_state import ServerState
from tidegate.state.transfers import TransferTable
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.doubles.takeover import NothingToTakeOver
from tidegate.testing.resources.counting_store import CountingStore
from tidegate.testing.resources.put import put

WAITING = 10_000
MANY = 100_000
BEST_OF = 200
LOAD = '{"globalConfig": 4, "prepareQueueLength": 8}'
_THEN = datetime(2026, 1, 1, tzinfo=UTC)
_NODES = [Node(metadata=Metadata(name=f"node-{letter}"), status=NodeStatus(ready=True)) for letter in "abc"]
_LOAD = Setting(metadata=Metadata(name="load-concurrency"), spec=SettingSpec(value=LOAD))


def run() -> Sequence[Row]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))  # a line per step is not measured
    try:
        return [*_passes(), *asyncio.run(_drain()), *asyncio.run(_idle()), _memory()]
    finally:
        structlog.reset_defaults()


def _passes() -> list[Row]:
    small, large = _pass_seconds(WAITING), _pass_seconds(MANY)
    return [
        Row(f"one pass, one of {WAITING:,} goes on", small * 1e3, "ms", target=2, better="less"),
        Row(f"one pass, one of {MANY:,} goes on", large * 1e3, "ms", target=2, better="less"),
        Row("ten times as many that wait", large / small, "x", target=3, better="less"),
    ]


def _pass_seconds(waiting: int) -> float:
    """The best of many: one ends, the table hears of it, the next is planned, and who was told wrong is found."""
    table, around = TransferTable(), GateSurroundings.of(effective_settings([_LOAD]), _NODES)
    for transfer in _transfers(waiting):
        table.note(transfer)
    under_way = [accepted.entry for accepted in plan_accepts(table, around)]
    for entry in under_way:
        table.note(_numbered(entry.place.name, TransferPhase.ACCEPTED))
    best = float("inf")
    for _ in range(BEST_OF):
        began = time.perf_counter()
        table.note(_numbered(under_way.pop(0).place.name, TransferPhase.FAILED))
        plan_starts(table, around)
        (accepted,) = plan_accepts(table, around)
        next(TransferWaits(table, around).untold(), None)
        best = min(best, time.perf_counter() - began)
        under_way.append(accepted.entry)
        table.note(_numbered(accepted.entry.place.name, TransferPhase.ACCEPTED))
    return best


@asynccontextmanager
async def _gates(clock: Clock) -> AsyncIterator[tuple[CountingStore, Runtime]]:
    ids = count()
    store = CountingStore(clock=clock, new_id=lambda: str(next(ids)))
    untold = (transfer.replace(status=transfer.status.no_longer_waiting()) for transfer in _transfers(WAITING))
    for resource in (*_NODES, _LOAD, *untold):
        await put(store, resource)
    state = ServerState(store, clock, Random(1))
    runtime = Runtime(state, clock, Random(1), [TransferGates(state, clock, NothingToTakeOver())])
    try:
        yield store, runtime
    finally:
        await runtime.stop()


async def _drain() -> list[Row]:
    """Every transfer is prepared, and over, as soon as the gates let it."""
    async with _gates(WallClock()) as (store, runtime):
        since = await versions_now(store, TRANSFERS)
        store.asked.clear()
        began = time.perf_counter()
        runtime.start()
        await _play_movers(store, since)
        seconds = time.perf_counter() - began
        recounts = runtime.state.transfers.prepare_count.recounts
    others = 2 * WAITING
    return [
        Row(
            f"draining {WAITING:,}: writes of the gates for each",
            (store.writes - others) / WAITING,
            "",
            4.6,
            "less",
        ),
        Row(
            f"draining {WAITING:,}: lists of transfers after the first",
            store.asked["list transfers"] - 4,
            "",
            0,
            "less",
        ),
        Row(f"draining {WAITING:,}: recounts of the prepare queue for each", recounts / WAITING, "", 2.1, "less"),
        Row(f"draining {WAITING:,}", WAITING / seconds, "1/s"),
    ]


async def _play_movers(store: CountingStore, since: Mapping[type[Resource], str]) -> None:
    over = 0
    steps = {
        TransferPhase.ACCEPTED: TransferPhase.PREPARED,
        TransferPhase.IN_PROGRESS: TransferPhase.COMPLETED,
    }
    seen: set[tuple[str, TransferPhase]] = set()
    async for event in watch_kinds(store, since):
        transfer = event.resource
        if not isinstance(transfer, Transfer) or transfer.status.phase not in steps:
            continue
        if (transfer.name, transfer.status.phase) in seen:
            continue
        seen.add((transfer.name, transfer.status.phase))
        newest = await MemoryStore.get(store, type(transfer), transfer.name)
        await store.update_status(newest.with_status(phase=steps[transfer.status.phase]))
        over += transfer.status.phase is TransferPhase.IN_PROGRESS
        if over == WAITING:
            return


async def _idle() -> list[Row]:
    """Ten minutes in which nothing happens."""
    clock = ManualClock()
    async with _gates(clock) as (store, runtime):
        runtime.resync = timedelta(days=1)  # the runtime's own safety net is another matter
        runtime.start()
        while runtime.state.transfers.waiting_count() < WAITING - 8 or _untold(runtime.state.transfers):
            await settle(1000)
        await clock.advance(timedelta(minutes=10))  # until the last one was told the newest reason
        store.asked.clear()
        await clock.advance(timedelta(minutes=10))
        await settle(1000)
    return [
        Row(f"ten idle minutes of {WAITING:,}: reads of transfers", store.asked["get"], "", 0, "less"),
        Row(f"ten idle minutes of {WAITING:,}: lists of transfers", store.asked["list transfers"], "", 0, "less"),
        Row(f"ten idle minutes of {WAITING:,}: writes", store.writes, "", 0, "less"),
    ]


def _untold(table: TransferTable) -> bool:
    return any("" in lane.told_counts() for lane in table.new.values())


def _memory() -> Row:
    """Beside the stored form: what the table keeps once nobody holds the resources any more."""
    tracemalloc.start()
    table = TransferTable()
    for transfer in _transfers(MANY):
        table.note(transfer)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return Row(f"memory for each of {table.waiting_count():,} that wait", kept / MANY, "B", target=1024, better="less")


def _transfers(number: int) -> Iterable[Transfer]:
    return (_transfer(n) for n in range(number))


def _numbered(name: str, phase: TransferPhase) -> Transfer:
    node = None if phase is TransferPhase.NEW else "node-a"
    return _transfer(int(name.removeprefix("transfer-"))).with_status(phase=phase, node=node)


def _transfer(number: int) -> Transfer:
    """One in four brings a volume back."""
    kind = DataUpload if number % 4 else DataDownload
    transfer = kind(
        metadata=Metadata(name=f"transfer-{number:06}", creation_timestamp=_THEN + timedelta(seconds=number)),
        spec=TransferSpec(
            volume_namespace=f"team-{number % 1000}",
            volume_name=f"volume-{number}",
            volume_kind=VolumeKind.IMAGE,
            path="/data",
            target="store",
            store_volume=f"volume-{number}",
            store_backup="backup-0123456789abcdef",
        ),
    )
    told = transfer.status.waiting(Reason.PREPARE_QUEUE_FULL, "8/8 (6 backups, 2 restores)", since=_THEN)
    return transfer.replace(status=told)

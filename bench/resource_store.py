"""How many durable writes the SQLite store takes, and what 100,000 resources cost."""

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from bench.rows import Row
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.labels import Selector
from tidegate.model.resource import Metadata
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.resources.put import put

WRITERS = 64
UPDATES_EACH = 320
MANY = 100_000
PAGE = 500
SECONDS_OF_FSYNC = 1.0


class WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, delay: timedelta) -> None:
        await asyncio.sleep(delay.total_seconds())


def run() -> Sequence[Row]:
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as directory:
        return asyncio.run(_run(Path(directory)))


async def _run(directory: Path) -> list[Row]:
    return [
        *await _status_updates(directory),
        *await _large_database(directory / "large.db"),
    ]


async def _open(path: Path) -> SqliteStore:
    return await SqliteStore.open(path, clock=WallClock(), new_id=lambda: str(uuid4()))


async def _status_updates(directory: Path) -> list[Row]:
    syncs = _syncs_per_second(directory / "raw")
    store = await _open(directory / "updates.db")
    backups = await asyncio.gather(*(put(store, _backup(number)) for number in range(WRITERS)))
    began = time.perf_counter()
    await asyncio.gather(*(_keep_updating(store, backup) for backup in backups))
    rate = WRITERS * UPDATES_EACH / (time.perf_counter() - began)
    await store.close()
    return [
        Row("append of one group and sync, by the disk alone", syncs, "1/s"),
        Row(f"durable status updates, {WRITERS} writers", rate, "1/s", target=5_000),
        Row("updates per sync of the disk alone", rate / syncs, "ratio"),
    ]


async def _keep_updating(store: SqliteStore, backup: Backup) -> None:
    for count in range(UPDATES_EACH):
        backup = await store.update_status(backup.with_status(phase=BackupPhase.IN_PROGRESS, warnings=count + 1))


def _syncs_per_second(path: Path) -> float:
    """What one group costs without us: the pages of 64 rows, appended and synced."""
    group = bytes(4096 * WRITERS)
    count = 0
    with path.open("wb", buffering=0) as raw:
        began = time.perf_counter()
        while time.perf_counter() - began < SECONDS_OF_FSYNC:
            raw.write(group)
            os.fdatasync(raw.fileno())
            count += 1
        return count / (time.perf_counter() - began)


async def _large_database(path: Path) -> list[Row]:
    store = await _open(path)
    for begin in range(0, MANY, 1_000):
        await asyncio.gather(*(put(store, _backup(number)) for number in range(begin, begin + 1_000)))
    await store.close()

    began = time.perf_counter()
    store = await _open(path)
    opened = time.perf_counter() - began
    rows = [
        Row(f"opening {MANY:,} resources", opened, "s", target=1, better="less"),
        *await _reads(store),
    ]
    await store.close()
    return rows


async def _reads(store: SqliteStore) -> list[Row]:
    middle = (await store.list(Backup, limit=1, marker=f"/{_name(MANY // 2)}")).items[0]
    began = time.perf_counter()
    for _ in range(10):
        await store.list(Backup, limit=PAGE, marker=f"/{middle.name}")
    page = (time.perf_counter() - began) / 10
    began = time.perf_counter()
    for number in range(1_000):
        await store.get(Backup, _name(number * 97 % MANY))
    get = (time.perf_counter() - began) / 1_000
    began = time.perf_counter()
    for group in range(100):
        await store.list(Backup, selector=Selector.matching({"group": str(group)}))
    selected = (time.perf_counter() - began) / 100
    return [
        Row(f"list, page of {PAGE} at the middle of {MANY:,}", page * 1_000, "ms"),
        Row(f"get, one of {MANY:,}", get * 1_000, "ms"),
        Row(f"list by label, 10 of {MANY:,}", selected * 1_000, "ms"),
    ]


def _name(number: int) -> str:
    return f"backup-{number:06}"


def _backup(number: int) -> Backup:
    labels = {"group": str(number % (MANY // 10)), "app": "shop"}
    return Backup(metadata=Metadata(name=_name(number), labels=labels))

"""The write-ahead log stays short, and keeping it so never stops whoever writes."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidegate.disk.sqlite.connection import connect
from tidegate.disk.sqlite.wal import ShortLog
from tidegate.model.backups.backup import Backup
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.resources import a_backup

LONGEST = 100_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect(path)
    connection.execute("CREATE TABLE t (body TEXT)")
    yield connection
    connection.close()


def size_of_log(path: Path) -> int:
    return path.with_name(f"{path.name}-wal").stat().st_size


def someone_reading(path: Path) -> sqlite3.Connection:
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return reader


def write(connection: sqlite3.Connection, log: ShortLog, times: int) -> list[str]:
    """What SQLite was asked beside the writes."""
    asked: list[str] = []
    for _ in range(times):
        connection.execute("INSERT INTO t VALUES (?)", ("x" * 3_000,))
        connection.set_trace_callback(asked.append)
        log.keep()
        connection.set_trace_callback(None)
    return [sql for sql in asked if "checkpoint" in sql]


def test_a_short_log_is_left_alone(connection: sqlite3.Connection, path: Path) -> None:
    assert write(connection, ShortLog(path, connection, longest=LONGEST, wait_ms=1), 5) == []


def test_a_long_one_begins_anew(connection: sqlite3.Connection, path: Path) -> None:
    asked = write(connection, ShortLog(path, connection, longest=LONGEST, wait_ms=1), 100)

    assert 1 <= len(asked) < 20
    assert size_of_log(path) <= LONGEST + 20_000


def test_somebody_who_reads_for_hours_is_waited_for_now_and_then_and_not_after_each_commit(
    connection: sqlite3.Connection, path: Path
) -> None:
    log = ShortLog(path, connection, longest=LONGEST, wait_ms=1)
    reader = someone_reading(path)

    asked = write(connection, log, 60)
    length = size_of_log(path)

    assert length > LONGEST
    assert len(asked) <= (length - LONGEST) / (LONGEST / 8) + 1
    assert connection.execute("PRAGMA busy_timeout").fetchone() == (5_000,), "commits are as patient as before"
    reader.close()
    write(connection, log, 20)
    assert size_of_log(path) <= LONGEST


async def test_the_log_of_the_store_stays_short_while_somebody_always_reads(path: Path) -> None:
    store = await SqliteStore.open(path, clock=ManualClock(), new_id=counting_ids(), longest_log=LONGEST)
    stop, looks = threading.Event(), 0

    def read_all_the_time() -> None:
        """Two that overlap, so that there is never a moment without a reader."""
        nonlocal looks
        readers = [someone_reading(path)]
        while not stop.is_set():
            readers.append(someone_reading(path))
            readers.pop(0).close()
            looks += 1
        readers.pop().close()

    thread = threading.Thread(target=read_all_the_time)
    thread.start()
    try:
        longest = 0
        for number in range(60):
            await store.create(a_backup(f"backup-{number}"))
            longest = max(longest, size_of_log(path))
        assert len((await store.list(Backup)).items) == 60
    finally:
        stop.set()
        thread.join()
        await store.close()

    assert looks > 10
    assert longest < 5 * LONGEST

"""A database that is deleted, replaced, cut or changed is noticed, and nothing is accepted after that."""

import asyncio
import sqlite3
from datetime import timedelta

import pytest

from tidegate.app.database_watch import DatabaseWatch
from tidegate.errors import DamagedMetadata, DatabaseDamaged
from tidegate.model.backups.backup import Backup
from tidegate.model.setting import Setting
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_backup, a_volume


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tidegate.db"


@pytest.fixture
async def store(path):
    store = await SqliteStore.open(path, clock=ManualClock(), new_id=counting_ids())
    await store.create(a_backup("kept"))
    yield store
    await store.close()


def delete(path):
    path.unlink()


def delete_the_log(path):
    path.with_name("tidegate.db-wal").unlink()


def replace(path):
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def cut(path):
    with path.open("r+b") as file:
        file.truncate(0)


DEEDS = [
    (delete, "is gone"),
    (delete_the_log, "tidegate.db-wal is gone"),
    (replace, "was replaced by another file"),
    (cut, "was cut from|is not a database"),
]


@pytest.mark.parametrize(("deed", "words"), DEEDS)
async def test_no_write_is_accepted_from_the_moment_on(store, path, deed, words):
    checkpoint(path)
    store.guard.look_at_files()
    deed(path)

    with pytest.raises(DatabaseDamaged, match=words) as told:
        await store.create(a_backup("lost"))
    assert "tidegate system restore create --from" in told.value.hint
    with pytest.raises(DatabaseDamaged, match=words):
        await store.delete(a_backup("kept").ref)


def checkpoint(path):
    """As after some thousand writes: what was committed is in the file itself."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def spoil(path):
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))


@pytest.mark.parametrize("deed", [*(deed for deed, _ in DEEDS), spoil])
async def test_it_is_noticed_within_seconds_also_while_nobody_writes(store, path, deed):
    clock, told = ManualClock(), []

    async def stop_work():
        told.append(store.guard.damage)

    async def seconds(number):
        for _ in range(number):
            await clock.until_slept(unless=watching)  # a look at all pages is taken in a thread
            await clock.advance(timedelta(seconds=1))

    checkpoint(path)
    watching = asyncio.create_task(DatabaseWatch(store.guard, clock, stop_work).run())
    await seconds(10)
    assert (told, store.guard.damage) == ([], None)

    deed(path)
    await seconds(5)
    async with asyncio.timeout(60):
        await watching

    assert told == [store.guard.damage]
    with pytest.raises(DatabaseDamaged):
        await store.create(a_backup("lost"))


def cut_the_log(log):
    with log.open("r+b") as file:
        file.truncate(0)


def cut_the_end_of_the_log(log):
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size - 6000)


def spoil_the_beginning_of_the_log(log):
    with log.open("r+b") as file:
        file.seek(12)
        file.write(b"\xff")


LOG_DEEDS = [cut_the_log, cut_the_end_of_the_log, spoil_the_beginning_of_the_log]


@pytest.mark.parametrize("deed", LOG_DEEDS)
async def test_a_log_that_was_cut_or_changed_takes_no_further_write(store, path, deed):
    await store.create(a_volume("shop", "db"))
    deed(path.with_name("tidegate.db-wal"))

    with pytest.raises(DatabaseDamaged):
        await store.create(a_backup("lost"))
    with pytest.raises(DatabaseDamaged):
        store.guard.check()


@pytest.mark.parametrize("deed", LOG_DEEDS)
async def test_a_log_that_was_cut_or_changed_is_noticed_while_nothing_is_written(store, path, deed):
    await store.create(a_volume("shop", "db"))
    clock, stopped = ManualClock(), asyncio.Event()

    async def stop_work():
        stopped.set()

    watching = asyncio.create_task(DatabaseWatch(store.guard, clock, stop_work).run())
    for _ in range(100):
        await clock.advance(timedelta(seconds=1))
    assert store.guard.damage is None
    deed(path.with_name("tidegate.db-wal"))

    for _ in range(50_000):  # the look at the content is in a thread, and takes as long as it takes
        if watching.done():
            break
        await clock.advance(timedelta(seconds=1))
    assert stopped.is_set()
    assert store.guard.damage is not None


async def test_a_database_that_is_set_back_to_an_earlier_copy_is_noticed(store, path):
    checkpoint(path)
    copy = path.read_bytes()
    for number in range(3):
        await store.create(a_backup(f"b{number}"))
    checkpoint(path)
    store.guard.look_at_content()
    assert store.guard.damage is None

    with path.open("r+b") as file:
        file.write(copy)
    store.guard.look_at_content()

    with pytest.raises(DatabaseDamaged, match="was set back from version 4 to 1"):
        await store.create(a_backup("lost"))


async def test_a_look_at_a_disk_that_fails_says_so_and_not_that_its_transaction_is_over(store, path):
    await store.create(a_volume("shop", "db"))
    cut_the_log(path.with_name("tidegate.db-wal"))

    with pytest.raises(DatabaseDamaged, match="disk I/O error"):
        await store.list(Backup)


async def test_a_log_that_is_begun_anew_by_the_server_is_no_damage(path):
    store = await SqliteStore.open(path, clock=ManualClock(), new_id=counting_ids(), longest_log=100_000)
    for number in range(60):
        await store.create(a_backup(f"b{number}"))
    store.guard.look_at_files()

    assert (store.guard.damage, store.guard.in_doubt) == (None, False)
    await store.close()


async def test_a_whole_database_is_left_alone_however_often_somebody_looks(store, path):
    for number in range(20):
        await store.create(a_backup(f"b{number}"))
        checkpoint(path)
        store.guard.look_at_files()
        store.guard.look_at_content()

    assert store.guard.damage is None


async def test_damage_that_a_look_meets_stays(store, path):
    await store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE resources")
    connection.close()
    again = await SqliteStore.open(path, clock=ManualClock(), new_id=counting_ids())

    with pytest.raises(DatabaseDamaged, match="no such table: resources"):
        await again.list(Backup)
    with pytest.raises(DatabaseDamaged, match="no such table: resources"):
        await again.create(a_volume("shop", "db"))
    await again.close()


async def test_a_changed_row_names_itself_and_does_not_stop_the_rest(store, path):
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("UPDATE resources SET body = replace(body, 'Backup', 'Bxxkup') WHERE name = 'kept'")
    connection.close()

    for look in (store.list(Backup), store.get(Backup, "kept")):
        with pytest.raises(DamagedMetadata, match="Backup 'kept' is damaged in the server's database"):
            await look
    assert (await store.list(Setting)).items == ()
    await store.create(a_volume("shop", "db"))
    assert store.guard.damage is None

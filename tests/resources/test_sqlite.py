import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tidegate.disk.sqlite.connection import connect
from tidegate.errors import (
    AlreadyExists,
    AlreadyRunning,
    DamagedMetadata,
    DatabaseDamaged,
    NoSpace,
    UserError,
    WatchExpired,
)
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.volumes.volume import Volume
from tidegate.resources.sqlite import SqliteStore
from tidegate.resources.sqlite.schema import APPLICATION_ID, SCHEMA, STEPS, errors_of
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.resources import a_backup, a_volume, take


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@asynccontextmanager
async def opened(path: Path, *, new_id: Callable[[], str] | None = None) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(path, clock=ManualClock(), new_id=new_id or counting_ids())
    try:
        yield store
    finally:
        await store.close()


async def test_everything_survives_a_restart_and_versions_go_on(path: Path) -> None:
    async with opened(path) as store:
        kept = await store.create(a_backup("kept", labels={"app": "shop"}))
        gone = await store.create(a_backup("gone"))
        await store.delete(gone.ref)
        before = (await store.list(Backup)).resource_version

    async with opened(path, new_id=counting_ids("later")) as store:
        page = await store.list(Backup, selector=Selector.equal(app="shop"))
        assert page.items == (kept,)
        # The delete used a version, and nothing may use it again.
        assert page.resource_version == before == "3"
        assert (await store.create(a_backup("new"))).metadata.resource_version == "4"


async def test_after_a_restart_a_watch_goes_on_only_where_nothing_was_missed(path: Path) -> None:
    async with opened(path) as store:
        old = await store.create(a_backup("old"))
        last = await store.create(a_backup("last"))

    async with opened(path, new_id=counting_ids("later")) as store:
        with pytest.raises(WatchExpired):
            await take(store.watch(Backup, since=old.metadata.resource_version), 1)
        with pytest.raises(WatchExpired):
            await take(store.watch(Backup, since="99"), 1)
        new = await store.create(a_backup("new"))
        (event,) = await take(store.watch(Backup, since=last.metadata.resource_version), 1)
        assert event.resource == new


async def test_closing_finishes_what_was_asked_for_and_ends_the_watchers(path: Path) -> None:
    store = await SqliteStore.open(path, clock=ManualClock(), new_id=counting_ids())
    watch = store.watch(Backup, since="0")
    writes = [asyncio.create_task(store.create(a_backup(f"b{number}"))) for number in range(50)]
    await asyncio.wait(writes, return_when=asyncio.FIRST_COMPLETED)
    await store.close()

    assert len(await asyncio.gather(*writes)) == 50
    assert len([event async for event in watch]) == 50
    with pytest.raises(RuntimeError):
        await store.create(a_backup("late"))


async def test_a_database_of_a_newer_version_is_refused(path: Path) -> None:
    async with opened(path):
        pass
    with connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA.version + 1}")
    connection.close()

    with pytest.raises(UserError, match="newer Tidegate"):
        await SqliteStore.open(path, clock=ManualClock(), new_id=counting_ids())


async def test_a_database_of_version_1_is_brought_up_to_date(path: Path) -> None:
    owner = a_backup("owner", uid="uid-1", resource_version="1", labels={"app": "shop"})
    child = a_volume("child", uid="uid-2", resource_version="2", owner_references=(owner.as_owner(),))
    with connect(path) as old:
        old.executescript(f"{STEPS[0]} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1;")
        for number, resource in enumerate((owner, child), start=1):
            row = (resource.kind, resource.namespace, resource.name, f"uid-{number}", resource.to_json())
            old.execute("INSERT INTO resources VALUES (?, ?, ?, ?, ?)", row)
        old.execute("UPDATE counter SET last_version = 2")
    old.close()

    async with opened(path) as store:
        assert (await store.list(Backup, selector=Selector.equal(app="shop"))).items == (owner,)
        await store.delete(owner.ref)
        page = await store.list(Volume)
        assert (page.items, page.resource_version) == ((), "4")


@pytest.mark.parametrize("content", [b"this is a text, not a database" * 100, b"SQLite format 3\0" + b"\xff" * 8192])
def test_what_is_not_a_database_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)

    with pytest.raises(DatabaseDamaged):
        asyncio.run(SqliteStore.open(path, clock=ManualClock(), new_id=counting_ids()))

    assert path.read_bytes() == content


async def test_a_database_of_another_program_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE songs (title TEXT)")
    other.close()

    with pytest.raises(UserError, match="another program"):
        await SqliteStore.open(path, clock=ManualClock(), new_id=counting_ids())


async def test_a_resource_that_cannot_be_understood_is_damage_and_never_an_empty_list(path: Path) -> None:
    async with opened(path) as store:
        await store.create(a_backup())
    with connect(path) as connection:
        connection.execute('UPDATE resources SET body = \'{"kind": "Backup"}\'')
    connection.close()

    async with opened(path) as store:
        with pytest.raises(DamagedMetadata):
            await store.list(Backup)
        with pytest.raises(DamagedMetadata):
            await store.get(Backup, "nightly")


def test_a_commit_has_returned_only_when_it_is_on_the_disk(path: Path) -> None:
    connection = connect(path)

    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    # 2 is FULL. Killing a process cannot show the difference, only pulling the plug can.
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    connection.close()


async def test_a_database_has_one_owner_at_a_time(path: Path) -> None:
    async with opened(path):
        with pytest.raises(AlreadyRunning):
            await SqliteStore.open(path, clock=ManualClock(), new_id=counting_ids())

    async with opened(path) as store:
        assert (await store.list(Backup)).items == ()


def test_a_lock_that_somebody_else_holds_is_told_as_such(path: Path) -> None:
    with sqlite3.connect(path, isolation_level=None) as holder, sqlite3.connect(path, timeout=0) as other:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(AlreadyRunning), errors_of(path).translated():
            other.execute("CREATE TABLE songs (title TEXT)")
    holder.close()
    other.close()


async def test_a_directory_that_is_not_there_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be opened"):
        await SqliteStore.open(tmp_path / "missing" / "state.db", clock=ManualClock(), new_id=counting_ids())


async def test_a_refused_write_does_not_spoil_the_others_of_its_group(path: Path) -> None:
    async with opened(path) as store:
        names = ["a", "b", "a", "c"]
        outcomes = await asyncio.gather(*(store.create(a_backup(name)) for name in names), return_exceptions=True)

        assert isinstance(outcomes[2], AlreadyExists)
        assert [backup.name for backup in (await store.list(Backup)).items] == ["a", "b", "c"]


async def test_a_write_that_the_database_refuses_does_not_spoil_the_others_of_its_group(path: Path) -> None:
    ids = iter(["uid-1", "uid-2", "uid-1", "uid-3"])
    async with opened(path, new_id=lambda: next(ids)) as store:
        creations = (store.create(a_backup(name)) for name in "abcd")
        outcomes = await asyncio.gather(*creations, return_exceptions=True)

        assert isinstance(outcomes[2], sqlite3.IntegrityError)
        events = await take(store.watch(Backup, since="0"), 3)
        assert [(event.resource.name, event.resource_version) for event in events] == [
            ("a", "1"),
            ("b", "2"),
            ("d", "3"),
        ]


async def test_a_full_disk_refuses_writes_and_changes_nothing(path: Path) -> None:
    async with opened(path) as store:
        created = await store.create(a_backup())
        limit = store._database.connection.execute("PRAGMA page_count").fetchone()[0]
        store._database.connection.execute(f"PRAGMA max_page_count = {limit}")

        with pytest.raises(NoSpace):
            await store.update(created.with_metadata(annotations={"long": "x" * 100_000}))
        assert await store.get(Backup, "nightly") == created

        store._database.connection.execute("PRAGMA max_page_count = 100000")
        updated = await store.update_status(created.with_status(warnings=1))
        assert updated.metadata.resource_version == "2"


async def test_a_caller_that_gave_up_does_not_disturb_the_others(path: Path) -> None:
    async with opened(path) as store:
        hasty = asyncio.create_task(store.create(a_backup("hasty")))
        patient = asyncio.create_task(store.create(a_backup("patient")))
        await asyncio.sleep(0)
        hasty.cancel()

        assert (await patient).name == "patient"
        assert hasty.cancelled()

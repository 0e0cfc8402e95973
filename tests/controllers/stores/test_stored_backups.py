"""What a store already holds counts as a backup, also where this server has no record of it: after a system restore."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from controllers.conftest import World  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.app.platform import Catalogues
from tidegate.catalogue.changes import FoundVolume, VolumeChange, found_in_cfg
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.progress import SyncStage
from tidegate.catalogue.target_sync import SyncOutcome
from tidegate.model.backups.backup import Backup
from tidegate.model.backups.verification_record import VerificationRecord
from tidegate.model.resource import Ref
from tidegate.model.stores.catalogue import BackupState, StoredBackupRecord, StoredVolumeRecord
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup
from tidegate.model.volumes.volume import Volume
from tidegate.testing.clock import settle
from tidegate.testing.resources.builders import a_system_backup, a_target

THEN = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass
class WorldWithStores(World):
    """A server that knows what its stores hold; syncs end when the test lets them."""

    catalogue: SqliteCatalogue | None = None

    def __post_init__(self):
        self.may_read = asyncio.Event()
        super().__post_init__()

    @property
    def rest(self):
        return {**super().rest, "catalogues": Catalogues(catalogue=self.catalogue, run_sync=self.sync)}

    @property
    def syncs(self):
        return self.work.syncs

    async def sync(self, errand):
        await self.may_read.wait()
        errand.progress.stage = SyncStage.DONE
        return SyncOutcome(started_at=errand.progress.started_at, volumes=1)

    async def settle(self):
        """The catalogue answers from threads: what was asked of them before is done first."""
        for _ in range(10):
            await settle(30)
            await asyncio.gather(self.catalogue.full_syncs(), self.catalogue.full_syncs())
            await self.catalogue.touch("none", (), self.clock.now())

    async def holds(self, *volumes, target="store"):
        """Somebody else's backups, of yesterday's server for example."""
        for name in volumes:
            record = StoredBackupRecord(name=f"backup-of-{name}", created_at=THEN, size=5 << 20)
            found = FoundVolume(
                listing_mark=1, settled=True, synced_at=THEN, record=StoredVolumeRecord(), cfg_mark=1, messages={}
            )
            change = VolumeChange(target=target, volume=name, backups=[found_in_cfg(record, 1, THEN)], found=found)
            await self.catalogue.apply(change)

    async def take(self, name):
        await self.store.create(a_system_backup(name))
        await self.settle()
        return await self.store.get(SystemBackup, name)


@pytest.fixture
async def server(tmp_path):
    server = WorldWithStores(catalogue=SqliteCatalogue.open(tmp_path / "catalogue.sqlite"))
    await server.start()
    await server.volumes("shop/db", "blog/posts")
    server.movers.obliging = True
    await server.settle()
    yield server
    await server.runtime.stop()
    await server.syncs.close()
    await server.supervisor.close()
    server.catalogue.close()


def rows(system):
    return {row.volume: (str(row.decision), row.backup is None) for row in system.status.volumes}


async def test_if_not_present_relies_on_what_the_store_holds_although_no_record_here_tells_of_it(server):
    await server.holds("shop.db")
    server.may_read.set()
    await server.settle()

    system = await server.take("weekly")

    assert rows(system) == {"shop/db": ("Reused", True), "blog/posts": ("Created", False)}
    stored = {row.volume: row.stored for row in system.status.volumes}["shop/db"]
    assert (stored.target, stored.store_volume, stored.store_backup) == ("store", "shop.db", "backup-of-shop.db")


async def test_a_store_that_is_not_read_yet_is_waited_for_and_not_taken_for_empty(server):
    waiting = await server.take("weekly")
    assert (str(waiting.status.phase), await server.all(Backup)) == ("New", [])
    condition = waiting.status.condition("Waiting")
    assert condition.reason == "PendingEvaluation"
    assert condition.message == "the catalogue has not read target store yet"

    await server.holds("shop.db", "blog.posts")
    server.may_read.set()
    await server.settle()
    await server.passes(seconds=11)

    system = await server.store.get(SystemBackup, "weekly")
    assert rows(system) == {"shop/db": ("Reused", True), "blog/posts": ("Reused", True)}
    assert str(system.status.phase) == "Ready"


async def test_a_store_that_is_never_read_ends_it_with_a_sentence_that_says_so(server):
    await server.take("weekly")
    for _ in range(13):
        await server.passes(minutes=5)

    system = await server.store.get(SystemBackup, "weekly")
    assert str(system.status.phase) == "Error"
    assert system.status.failure_reason == (
        "not known in time which volumes have a backup: the catalogue has not read target store yet"
    )


async def test_a_second_target_that_does_not_answer_is_not_waited_for(server):
    server.may_read.set()
    await server.store.create(a_target("away", url="file:///away"))
    away = await server.store.get(BackupTarget, "away")
    await server.settle()
    await server.catalogue.forget_target("away")
    away = await server.store.get(BackupTarget, "away")
    await server.store.update_status(away.with_status(available=False))

    assert rows(await server.take("weekly"))["shop/db"] == ("Created", False)


async def test_a_volume_tells_of_the_backup_that_its_store_holds_as_soon_as_that_is_read(server):
    before = await server.store.get(Volume, "db", "shop")
    await server.holds("shop.db")
    server.may_read.set()
    await server.settle()

    status = (await server.store.get(Volume, "db", "shop")).status
    assert before.status.last_backup_url is None
    assert (status.last_backup, status.last_backup_at, status.size) == (None, THEN, 5 << 20)
    assert status.last_backup_url.endswith("?backup=backup-of-shop.db&volume=shop.db")
    assert (await server.store.get(Volume, "posts", "blog")).status.last_backup_url is None


async def test_a_volume_that_is_defined_later_tells_of_it_at_once(server):
    await server.holds("shop.late")
    server.may_read.set()
    await server.settle()
    await server.volumes("shop/late")
    await server.settle()

    assert (await server.store.get(Volume, "late", "shop")).status.last_backup_at == THEN


async def test_a_backup_whose_data_was_deleted_is_no_backup_any_more(server):
    server.may_read.set()
    await server.settle()
    made = await server.take("first")
    (row,) = [row for row in made.status.volumes if row.volume == "shop/db"]
    await server.store.delete(Ref("Backup", row.backup))
    await server.settle()

    assert rows(await server.take("second"))["shop/db"] == ("Created", False)


async def until(server, holds):
    """What it tells as soon as it holds: the catalogue answers from threads, and a busy machine lets them wait."""
    for _ in range(200):
        if (found := await holds()) is not None:
            return found
        await server.settle()
    raise AssertionError("it never came to hold")


async def taken(server, name):
    """A system backup that is over."""
    await server.take(name)

    async def over():
        system = await server.store.get(SystemBackup, name)
        return system if system.status.phase.final else None

    return await until(server, over)


async def doubts(server, *, wanted):
    """Why the backup of each volume cannot be relied on, once it is so for as many."""

    async def found():
        told = {one.name: one.status.last_backup_doubt for one in await server.all(Volume)}
        return told if sum(doubt is not None for doubt in told.values()) == wanted else None

    return await until(server, found)


async def backed_up_here(server):
    """Where each volume's backup is."""
    made = await taken(server, "first")
    assert {str(row.decision) for row in made.status.volumes} == {"Created"}
    return {row.volume: row.stored for row in made.status.volumes}


async def has(server, stored, **changes):
    """The store shows this backup to the next sync."""
    record = StoredBackupRecord(name=stored.store_backup, created_at=server.clock.now(), size=5 << 20)
    found = FoundVolume(
        listing_mark=1, settled=True, synced_at=THEN, record=StoredVolumeRecord(), cfg_mark=1, messages={}
    )
    change = VolumeChange(
        target=stored.target,
        volume=stored.store_volume,
        backups=[found_in_cfg(replace(record, **changes), 1, server.clock.now())],
        found=found,
    )
    await server.catalogue.apply(change)


async def test_a_backup_that_its_store_lost_or_broke_makes_no_volume_safe_and_is_not_relied_on(server):
    """Its record here says Completed; only the store knows whether it is still there."""
    await server.volumes("shop/web")
    server.may_read.set()
    await server.settle()
    stored = await backed_up_here(server)
    await has(server, stored["shop/web"])
    await has(server, stored["shop/db"], state=BackupState.ERROR, messages={"error": "torn"})
    await server.passes(minutes=6)

    told = await doubts(server, wanted=2)

    assert told["web"] is None
    assert told["db"].endswith("is not in target store any more, or cannot be read there")
    assert told["posts"].startswith("its last backup, first-")
    assert {name: how for name, (how, _) in rows(await taken(server, "second")).items()} == {
        "shop/db": "Created",
        "blog/posts": "Created",
        "shop/web": "Reused",
    }


async def test_a_backup_that_is_there_again_is_good_again(server):
    server.may_read.set()
    await server.settle()
    stored = await backed_up_here(server)
    await server.passes(minutes=6)
    await doubts(server, wanted=2)
    await has(server, stored["shop/db"])
    await server.passes(minutes=6)

    assert (await doubts(server, wanted=1))["db"] is None


async def test_a_backup_that_failed_its_verification_makes_no_volume_safe_until_it_is_proven(server):
    server.may_read.set()
    await server.settle()
    await backed_up_here(server)
    name = (await server.store.get(Volume, "db", "shop")).status.last_backup

    async def noted(record, *, wanted):
        backup = await server.store.get(Backup, name)
        await server.store.update_status(backup.with_status(verification=record))
        return (await doubts(server, wanted=wanted))["db"]

    failed = await noted(VerificationRecord(failed_at=THEN, failed_by="v", failure="block 7 is damaged"), wanted=1)
    proven = await noted(VerificationRecord(verified_at=THEN, verified_by="w"), wanted=0)

    assert (failed, proven) == (f"its last backup, {name}, failed verification v: block 7 is damaged", None)

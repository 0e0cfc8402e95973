"""What everything that looks at stores promises."""

import json

import pytest

from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.errors import (
    InvalidInput,
    NotFound,
    Refused,
    StoreIdentityChanged,
    StoreIdentityMissing,
    StoreUnavailable,
)
from tidegate.model.restores.restore_plan import StoredBackup
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.directory import DirectoryObjects
from tidegate.ports.store_probe import StoreProbe
from tidegate.testing.doubles.store_probe import FakeStoreProbe
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.stored_samples import volume_name, write_volumes

VOLUMES = [volume_name(number) for number in range(4)]


class Disk:
    """A store in a directory."""

    def __init__(self, tmp_path):
        self.path, self.tmp_path, self.probe = tmp_path / "store", tmp_path, ThreadedStoreProbe()
        self.path.mkdir()
        self.access = TargetAccess(url=f"file://{self.path}")

    def take_away(self):
        self.path.rename(self.tmp_path / "away")

    def put_volumes(self):
        write_volumes(self.path, volumes=4, backups=1)

    def put_backup(self, volume, backup, size):
        (self.tmp_path / "image").write_bytes(b"x" * size)
        bench = MoverBench(DirectoryObjects(str(self.path)), volume=volume)
        bench.upload(self.tmp_path / "image", backup)

    def leave_unfinished(self, volume, backup):
        self.put_backup(volume, backup, 10)
        (cfg,) = self.path.rglob(f"backup_{backup}.cfg")
        cfg.write_text(json.dumps({**json.loads(cfg.read_text()), "CreatedTime": ""}))


class Pretence:
    """A store that a fake is told of."""

    def __init__(self, _tmp_path):
        self.probe, self.access = FakeStoreProbe(volumes=()), TargetAccess(url="file:///store")

    def take_away(self):
        self.probe.down = True

    def put_volumes(self):
        self.probe.volumes = VOLUMES

    def put_backup(self, volume, backup, size):
        self.probe.backups = {(volume, backup): StoredBackup(size=size)}

    def leave_unfinished(self, volume, backup):
        self.probe.backups = {(volume, backup): Refused(f"backup {backup} of volume {volume} is not finished")}


IMPLEMENTATIONS: dict[type[StoreProbe], type] = {ThreadedStoreProbe: Disk, FakeStoreProbe: Pretence}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def world(request, tmp_path):
    return IMPLEMENTATIONS[request.param](tmp_path)


@pytest.fixture
def probe(world):
    return world.probe


def every_look(probe, access):
    return (
        lambda: probe.check(access),
        lambda: probe.identify(access),
        lambda: probe.stored_backup(access, "v", "backup-1"),
    )


async def test_a_store_that_is_there_works(world, probe):
    await probe.check(world.access)


async def test_a_url_that_can_never_work_is_invalid_input(probe):
    for look in every_look(probe, TargetAccess(url="nonsense")):
        with pytest.raises(InvalidInput):
            await look()


async def test_a_store_that_is_away_is_unavailable_and_holds_neither_something_nor_nothing(world, probe):
    world.take_away()

    for look in every_look(probe, world.access):
        with pytest.raises(StoreUnavailable):
            await look()


async def test_a_store_without_the_expected_identity_is_refused(world, probe):
    for look in every_look(probe, world.access.replace(identity="mine")):
        with pytest.raises(StoreIdentityMissing):
            await look()


async def test_a_store_with_another_identity_is_refused_and_says_which(world, probe):
    there = await probe.identify(world.access)

    for look in every_look(probe, world.access.replace(identity="mine")):
        with pytest.raises(StoreIdentityChanged) as refused:
            await look()
        assert refused.value.found == there
    await probe.check(world.access.replace(identity=there))


async def test_a_new_store_gets_an_identity_and_keeps_it(world, probe):
    first = await probe.identify(world.access)

    assert first
    assert await probe.identify(world.access) == first
    assert await probe.identify(world.access, volumes=VOLUMES) == first


async def test_a_store_is_recognised_by_its_volumes(world, probe):
    world.put_volumes()

    assert await probe.identify(world.access, volumes=VOLUMES)


async def test_a_store_without_the_known_volumes_gets_no_identity(world, probe):
    with pytest.raises(StoreIdentityMissing, match="of 4 volumes that should be there it holds 0"):
        await probe.identify(world.access, volumes=VOLUMES)

    with pytest.raises(StoreIdentityMissing):
        await probe.check(world.access.replace(identity="any"))


async def test_a_stored_backup_has_the_size_of_its_volume(world, probe):
    world.put_backup("shop.db", "backup-1", 5000)

    stored = await probe.stored_backup(world.access, "shop.db", "backup-1")

    assert (stored.is_tree, stored.size) == (False, 5000)


async def test_a_backup_that_the_store_does_not_hold_is_not_found(world, probe):
    world.put_backup("shop.db", "backup-1", 10)

    for volume, backup in (("shop.db", "backup-2"), ("shop.other", "backup-1")):
        with pytest.raises(NotFound, match=f"cannot find backup {backup}"):
            await probe.stored_backup(world.access, volume, backup)


async def test_a_backup_that_is_not_finished_is_refused(world, probe):
    world.leave_unfinished("shop.db", "backup-1")

    with pytest.raises(Refused, match="not finished"):
        await probe.stored_backup(world.access, "shop.db", "backup-1")

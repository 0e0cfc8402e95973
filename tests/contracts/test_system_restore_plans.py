"""Every implementation of SystemRestorePlans keeps the same promise."""

import pytest

from tidegate.controllers.system.restore_planner import SystemRestorePlanner
from tidegate.errors import DamagedMetadata, NotFound, StoreUnavailable
from tidegate.format.cfgs.system_backup_cfg import SYSTEM_BACKUPS, ArchivePlace
from tidegate.model.system.system import VolumeBackupPolicy
from tidegate.model.system.system_restore import ArchiveSource, VolumeChoice
from tidegate.model.system_archive import ArchiveMetadata, SystemArchive
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.memory import MemoryObjects
from tidegate.ports.secrets import NoSecrets
from tidegate.ports.system_restore_plans import NoSystemRestorePlans, SystemRestorePlans
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.doubles.volume_probe import FakeVolumeProbe
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import THEN, a_target, a_volume
from tidegate.testing.stores.system_archives import MemoryArchives

URL = "file:///somewhere"
WEEKLY = ArchivePlace("weekly", "v1")
SOURCE = ArchiveSource(target="store", url=f"{URL}/{SYSTEM_BACKUPS}/v1/weekly")
MISSING = ArchiveSource(target="store", url=f"{URL}/{SYSTEM_BACKUPS}/v1/nothing")


class World:
    """A target whose store holds one system backup with one volume."""

    def __init__(self):
        self.clock = ManualClock()
        self.store = MemoryStore(clock=self.clock, new_id=counting_ids())
        self.objects = MemoryObjects(self.clock)
        self.archives = MemoryArchives(self.objects)


def planner(world):
    return SystemRestorePlanner(world.store, FakeVolumeProbe(), NoSecrets(), world.archives)


IMPLEMENTATIONS: dict[type[SystemRestorePlans], object] = {
    SystemRestorePlanner: planner,
    NoSystemRestorePlans: lambda _world: NoSystemRestorePlans(),
}


@pytest.fixture
async def world():
    world = World()
    await world.store.create(a_target("store", url=URL))
    metadata = ArchiveMetadata(
        version="v1", created_at=THEN, system_backup_uid="u", volume_backup_policy=VolumeBackupPolicy.DISABLED
    )
    archive = SystemArchive("weekly", metadata, (a_volume("shop", "db"),), ())
    await world.archives.write(TargetAccess(url=URL), "v1", archive)
    return world


@pytest.fixture
def plans(world):
    return planner(world)


async def test_a_plan_has_a_row_for_each_definition_and_each_volume_and_changes_nothing(world, plans):
    before = await world.store.list(type(a_target("x")))

    plan = await plans.plan(SOURCE, VolumeChoice.MISSING)

    assert [row.name for row in plan.definitions] == ["shop/db"]
    assert len(plan.volumes) == 1
    assert await world.store.list(type(a_target("x"))) == before


async def test_a_target_or_archive_that_is_gone_is_not_found(plans):
    for source in (MISSING, SOURCE.replace(target="nowhere")):
        with pytest.raises(NotFound):
            await plans.plan(source, VolumeChoice.NONE)


async def test_an_archive_that_cannot_be_read_is_damaged(world, plans):
    world.objects.put(WEEKLY.zip_key, b"rot")

    with pytest.raises(DamagedMetadata):
        await plans.plan(SOURCE, VolumeChoice.NONE)


@pytest.mark.parametrize("kind", IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
async def test_a_store_that_does_not_answer_is_unavailable(world, kind):
    world.archives.away = True

    with pytest.raises(StoreUnavailable):
        await IMPLEMENTATIONS[kind](world).plan(SOURCE, VolumeChoice.NONE)

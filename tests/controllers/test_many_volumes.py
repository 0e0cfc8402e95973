"""Ten thousand volumes: no resource becomes large at any moment, and a step for one volume writes little."""

from dataclasses import dataclass, field
from datetime import timedelta

from tidegate.app.wiring import ARCHIVE_VERSION
from tidegate.controllers.backups.backup import BackupController
from tidegate.controllers.backups.blocks import BackupBlocks
from tidegate.controllers.backups.hook_supervisor import HookSupervisor
from tidegate.controllers.movers.supervisor import MoverSupervisor
from tidegate.controllers.movers.takeover import Takeover
from tidegate.controllers.restores.restore import RestoreController
from tidegate.controllers.system.backup import SystemBackupController
from tidegate.controllers.system.restore import SystemRestoreController
from tidegate.controllers.system.restore_planner import SystemRestorePlanner
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.backups.item_block import VOLUME_GROUP_LABEL
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restores.restore import Restore, RestorePhase, RestoreSpec
from tidegate.model.row_page import RowPage
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.system.system import SystemBackup, VolumeBackupPolicy
from tidegate.model.system.system_restore import (
    ArchiveSource,
    SystemRestore,
    SystemRestoreSpec,
)
from tidegate.model.transfers.transfer import (
    BACKUP_LABEL,
    PodVolumeBackup,
    PodVolumeRestore,
    TransferPhase,
    TransferResult,
)
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.ports.hook_runner import NoHooks
from tidegate.ports.secrets import NoSecrets
from tidegate.resources.paged import PagedStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.doubles.movers import FakeMovers
from tidegate.testing.doubles.volume_probe import FakeVolumeProbe
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_backup, a_system_backup, a_target, a_transfer, a_volume, freezing
from tidegate.testing.resources.put import put
from tidegate.testing.resources.small_store import SmallStore
from tidegate.testing.stores.system_archives import MemoryArchives

VOLUMES = 10_000
NAMES = [f"team-{n // 100:03}-production/data-of-database-{n:05}" for n in range(VOLUMES)]
URL = "file:///somewhere"
# A page as it is stored, with some room for what wraps its text.
ONE_PAGE = 64 * 1024


@dataclass
class Many:
    """A store that refuses large resources, with all the volumes in it."""

    clock: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self):
        self.kept = SmallStore(clock=self.clock, new_id=counting_ids())
        self.store = PagedStore(self.kept)
        self.archives = MemoryArchives(MemoryObjects(self.clock))

    async def begin(self, **labels):
        await self.store.create(a_target("store", url=URL))
        for name in NAMES:
            await self.store.create(a_volume(*name.split("/"), f"/data/{name}", **labels))
        return self

    async def steps(self, controller, resource, *, until):
        """How often the reconciler was asked until the resource has come there."""
        for count in range(20):
            if str((await self.get(resource)).status.phase) == until:
                return count
            await controller.reconcile(resource.ref)
        raise AssertionError(f"{await self.get(resource)} is not {until}"[:2_000])

    async def get(self, resource):
        return await self.store.get(type(resource), resource.name)

    async def ended(self, kind, phase):
        for one in (await self.store.list(kind)).items:
            await self.store.update_status(one.with_status(phase=phase, completion_timestamp=self.clock.now()))

    async def uploaded(self, *, kind=VolumeKind.DIRECTORY, **labels):
        """A good backup of each volume."""
        for name in NAMES:
            volume = name.split("/")
            done = a_transfer(volume[1], TransferPhase.COMPLETED, kind=PodVolumeBackup, volume=volume)
            await put(self.store, done.with_metadata(labels=labels).with_spec(volume_kind=kind))

    async def pages(self):
        return len((await self.kept.list(RowPage)).items)


async def test_a_system_backup_of_ten_thousand_volumes_has_small_resources():
    many = await Many().begin()
    system = await many.store.create(a_system_backup("weekly", VolumeBackupPolicy.ALWAYS))
    controller = SystemBackupController(
        many.store, many.clock, NoSecrets(), many.archives, FakeVolumeProbe(), ARCHIVE_VERSION
    )

    await many.steps(controller, system, until="CreatingVolumeBackups")
    await controller.reconcile(system.ref)
    many.kept.writes.clear()
    for one in (await many.store.list(Backup)).items[:5]:
        await many.store.update_status(one.with_status(phase=BackupPhase.IN_PROGRESS, start_timestamp=many.clock.now()))
        await many.clock.advance(timedelta(minutes=1))
        await controller.reconcile(system.ref)
    assert many.kept.writes["RowPage"] == 0  # how each volume stands is derived
    await many.ended(Backup, BackupPhase.COMPLETED)
    await many.steps(controller, system, until="Error")

    rows = (await PagedStore(many.kept).get(SystemBackup, "weekly")).status.volumes
    assert [row.volume for row in rows] == NAMES
    assert {row.state for row in rows} == {"Failed"}  # nothing has uploaded their data
    assert many.kept.largest["SystemBackup"] < 32 * 1024


async def test_a_system_restore_of_ten_thousand_volumes_has_small_resources():
    many = await Many().begin()
    await many.uploaded()
    weekly = await many.store.create(a_system_backup("weekly"))
    backups = SystemBackupController(
        many.store, many.clock, NoSecrets(), many.archives, FakeVolumeProbe(), ARCHIVE_VERSION
    )
    await many.steps(backups, weekly, until="Ready")
    found = ArchiveSource(target="store", url=(await many.get(weekly)).status.url)
    system = await many.store.create(
        SystemRestore(metadata=Metadata(name="back"), spec=SystemRestoreSpec(system_backup="weekly", found=found))
    )
    planner = SystemRestorePlanner(many.store, FakeVolumeProbe(), NoSecrets(), many.archives)
    controller = SystemRestoreController(many.store, many.clock, NoSecrets(), many.archives, planner)

    await many.steps(controller, system, until="RestoringVolumes")
    await controller.reconcile(system.ref)
    many.kept.writes.clear()
    for one in (await many.store.list(Restore)).items[:5]:
        await many.store.update_status(one.with_status(phase=RestorePhase.IN_PROGRESS))
        await controller.reconcile(system.ref)
    assert many.kept.writes["RowPage"] == many.kept.writes["SystemRestore"] == 0  # how each stands is derived
    await many.ended(Restore, RestorePhase.COMPLETED)
    await many.steps(controller, system, until="Completed")

    status = (await PagedStore(many.kept).get(SystemRestore, "back")).status
    assert [row.volume for row in status.volumes] == NAMES
    assert [row.name for row in status.definitions if row.done][-VOLUMES:] == NAMES
    assert many.kept.largest["SystemRestore"] < 64 * 1024
    assert many.kept.largest["SystemBackup"] < 32 * 1024


async def of_ten_thousand_volumes(many, **spec):
    """A backup of all of them, with its blocks settled, and what carries it on."""
    workers = Setting(metadata=Metadata(name="item-block-worker-count"), spec=SettingSpec(value="10"))
    await many.store.create(workers)
    takeover = Takeover(many.store, MoverSupervisor(FakeMovers(), many.clock))
    blocks = BackupBlocks(many.store, HookSupervisor(NoHooks()))
    controller = BackupController(many.store, many.clock, blocks, takeover)
    backup = await put(many.store, a_backup("b", phase=BackupPhase.READY_TO_START).with_spec(**spec))
    for _ in range(3):
        await controller.reconcile(backup.ref)
    return backup, controller


async def test_a_backup_of_ten_thousand_volumes_is_small_and_a_step_writes_one_page():
    many = await Many().begin()
    backup, controller = await of_ten_thousand_volumes(many)
    assert len((await many.get(backup)).status.blocks) == VOLUMES
    pages = await many.pages()
    many.kept.writes.clear()
    many.kept.bytes.clear()

    for _ in range(20):
        moving = [one for one in (await many.store.list(PodVolumeBackup)).items if not one.status.phase.final]
        done = moving[0].with_status(phase=TransferPhase.COMPLETED, result=TransferResult(size=1))
        await many.store.update_status(done)
        await controller.reconcile(backup.ref)

    assert len((await many.get(backup)).status.blocks) == VOLUMES - 20
    assert many.kept.writes["Backup"] == many.kept.writes["RowPage"] == 20
    assert many.kept.bytes["RowPage"] <= 20 * ONE_PAGE
    assert many.kept.largest["Backup"] < 32 * 1024
    assert await many.pages() <= pages


async def test_a_backup_that_is_cancelled_leaves_no_page():
    many = await Many().begin()
    backup, controller = await of_ten_thousand_volumes(many)
    await many.store.cancel(backup.ref)

    await controller.reconcile(backup.ref)
    await many.ended(PodVolumeBackup, TransferPhase.CANCELED)
    await many.steps(controller, backup, until="Canceled")

    assert (await many.get(backup)).status.blocks == ()
    assert await many.pages() == 0


async def test_ten_thousand_volumes_of_one_group_with_hooks_are_one_block_over_several_pages():
    many = Many()
    for name in NAMES:
        await many.store.create(a_volume("team", name.partition("/")[2], "/data", **{VOLUME_GROUP_LABEL: "one"}))

    backup, _ = await of_ten_thousand_volumes(many, hooks=freezing())

    (block,) = (await PagedStore(many.kept).get(Backup, backup.name)).status.blocks
    assert len(block.volumes) == len(block.hooks[0].volumes) == VOLUMES
    assert many.kept.largest["Backup"] < 32 * 1024


async def test_volumes_that_go_while_their_backup_runs_are_noted_in_pages():
    many = await Many().begin()
    backup, controller = await of_ten_thousand_volumes(many)
    for name in NAMES:
        await many.store.delete(Ref("Volume", *reversed(name.split("/"))))
    await many.ended(PodVolumeBackup, TransferPhase.COMPLETED)
    many.kept.writes.clear()

    for _ in range(45):
        await controller.reconcile(backup.ref)

    gone = (await PagedStore(many.kept).get(Backup, "b")).status.gone_volumes
    assert len(gone) >= 300
    assert many.kept.writes["RowPage"] <= 2 * 45  # one of the blocks, one of the names
    assert many.kept.largest["Backup"] < 64 * 1024


async def restored(many, *, kind):
    """A restore of a backup of all of them, as soon as somebody looked where they go."""
    backup = await put(many.store, a_backup("b", phase=BackupPhase.COMPLETED))
    await many.uploaded(kind=kind, **{BACKUP_LABEL: backup.metadata.uid})
    wanted = RestoreSpec(backup_name="b", existing_data=ExistingData.OVERWRITE)
    restore = await many.store.create(Restore(metadata=Metadata(name="back"), spec=wanted))
    controller = RestoreController(many.store, many.clock)
    await controller.reconcile(restore.ref)
    return restore, controller


async def test_a_restore_of_ten_thousand_volumes_is_small_and_goes_on_without_writing_what_it_writes_to():
    many = await Many().begin()
    restore, controller = await restored(many, kind=VolumeKind.DIRECTORY)
    settled = await PagedStore(many.kept).get(Restore, "back")
    assert settled.status.target_volumes == tuple(NAMES)
    many.kept.writes.clear()

    await many.store.update_status(settled.with_status(phase=RestorePhase.IN_PROGRESS))
    await controller.reconcile(restore.ref)
    for download in (await many.store.list(PodVolumeRestore)).items[:5]:
        await many.store.update_status(download.with_status(phase=TransferPhase.COMPLETED))
        await controller.reconcile(restore.ref)

    assert (await many.get(restore)).status.progress.items_restored == 5
    assert many.kept.writes["RowPage"] == 0
    assert many.kept.largest["Restore"] < 32 * 1024


async def test_a_restore_that_is_refused_for_each_of_ten_thousand_volumes_is_small():
    many = await Many().begin()

    restore, _ = await restored(many, kind=VolumeKind.IMAGE)  # and here they are directories

    status = (await many.get(restore)).status
    assert status.phase == "FailedValidation"
    assert len(status.validation_errors) == VOLUMES
    assert many.kept.largest["Restore"] < 32 * 1024

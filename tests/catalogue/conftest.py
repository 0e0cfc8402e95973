"""A store with volumes and backups in memory, a catalogue in a real file, and a reader that counts."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.progress import SyncProgress
from tidegate.catalogue.target_sync import SyncOrder, TargetSync
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.backup_cfg import BackupCfg, BlockRef, block_parameters
from tidegate.format.cfgs.paths import backup_cfg_key, volume_cfg_key
from tidegate.format.cfgs.times import format_time
from tidegate.format.cfgs.volume_cfg import VolumeCfg
from tidegate.model.stores.catalogue import CatalogueFilter
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.stores.store_readers import CountingReader

MIB = 1024 * 1024
ANY = CatalogueFilter()


def a_cfg(volume, name, *, at, labels=None, blocks=1, created=None, parameters=None):
    return BackupCfg(
        name=name,
        volume_name=volume,
        compression=Compression.LZ4,
        snapshot_name=f"snap-{name}",
        snapshot_created_at=format_time(at),
        created_time=format_time(at) if created is None else created,
        labels=labels or {},
        parameters={**block_parameters(block_size=2 * MIB, true_size=8 * MIB), **(parameters or {})},
        newly_uploaded_size=100,
        blocks=[BlockRef(number * 2 * MIB, f"{number:064x}") for number in range(blocks)],
    )


@dataclass
class Far:
    """One target: its store, and the catalogue's view of it."""

    path: object
    clock: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self):
        self.store = MemoryObjects(self.clock)
        self.reader = CountingReader(self.store)
        self.catalogue = SqliteCatalogue.open(self.path)
        self.turn = 0

    def put(self, volume, *backups, labels=None, blocks=1, parameters=None):
        """These backups, a minute apart, and a volume.cfg that points to the last one."""
        for name in backups:
            self.clock._now += timedelta(minutes=1)
            cfg = a_cfg(volume, name, at=self.clock.now(), labels=labels, blocks=blocks, parameters=parameters)
            self.store.put(backup_cfg_key(volume, name), cfg.encode())
        last = backups[-1] if backups else ""
        self.point(volume, last, labels=labels)

    def point(self, volume, last, labels=None):
        cfg = VolumeCfg(
            name=volume,
            size=8 * MIB,
            labels=labels or {},
            created_time="2026-01-01T00:00:00Z",
            last_backup_name=last,
            last_backup_at=format_time(self.clock.now()) if last else "",
            block_count=3,
            compression=Compression.LZ4,
        )
        self.store.put(volume_cfg_key(volume), cfg.encode())

    def delete_volume(self, volume):
        for info in list(self.store.list_all("backupstore")):
            if f"/{volume}/" in info.key:
                self.store.delete(info.key)

    async def sync(self, target="far", **order):
        self.turn += 1
        self.reader.asked.clear()
        self.progress = SyncProgress(self.clock.now())
        order = SyncOrder(target=target, **{"turn": self.turn, **order})
        return await TargetSync(order, self.reader, self.catalogue, self.clock, self.progress).run()

    async def names(self, **wanted):
        page = await self.catalogue.backups(CatalogueFilter(**wanted), limit=1000)
        return [backup.record.name for backup in page.items]

    async def volumes(self, **wanted):
        page = await self.catalogue.volumes(CatalogueFilter(**wanted), limit=1000)
        return [volume.name for volume in page.items]


@pytest.fixture
def far(tmp_path):
    far = Far(tmp_path / "catalogue.sqlite")
    yield far
    far.catalogue.close()

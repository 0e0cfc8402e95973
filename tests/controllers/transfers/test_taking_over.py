"""A transfer of another server waits until its backup is decided."""

import pytest

from tidegate.controllers.movers.supervisor import MoverSupervisor
from tidegate.controllers.movers.takeover import Takeover
from tidegate.controllers.transfers.taking_over import TransferTakeover
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.resource import OwnerReference
from tidegate.model.transfers.transfer import DataUpload, TransferPhase
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.doubles.movers import FakeMovers
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_backup, a_transfer
from tidegate.testing.resources.put import put


class Place:
    """A backup in progress with one upload, as a new server finds them."""

    async def begin(self):
        clock = ManualClock()
        self.store = MemoryStore(clock=clock, new_id=counting_ids())
        self.backup = await put(self.store, a_backup("b", phase=BackupPhase.IN_PROGRESS))
        owner = OwnerReference(kind="Backup", name="b", uid=self.backup.metadata.uid)
        self.upload = await put(self.store, a_transfer("t").with_metadata(owner_references=(owner,)))
        self.woken = []
        movers = MoverSupervisor(FakeMovers(), clock, wake=self.woken.append)
        self.takeover = Takeover(self.store, movers)
        await self.takeover.begin()
        self.transfers = TransferTakeover(self.store, clock, movers, self.takeover)
        return self

    async def break_off(self):
        await self.store.update_status(self.backup.with_status(phase=BackupPhase.FAILED))
        self.takeover.carry(self.backup)


class LooksLate:
    """What it answers is decided about before the answer is there."""

    def __init__(self, place):
        self.place = place

    async def get(self, kind, name):
        found = await self.place.store.get(kind, name)
        await self.place.break_off()
        return found


@pytest.fixture
async def place():
    return await Place().begin()


async def test_an_upload_waits_and_is_woken_when_its_backup_goes_on(place):
    assert not await place.transfers.goes_on(place.upload)
    assert place.takeover.holds(place.upload.ref)

    place.takeover.carry(place.backup)

    assert place.woken == [place.upload.ref]
    assert await place.transfers.goes_on(place.upload)
    assert not place.takeover.holds(place.upload.ref)


async def test_an_upload_is_stopped_with_its_backup(place):
    await place.break_off()

    assert not await place.transfers.goes_on(place.upload)
    assert (await place.store.get(DataUpload, "t")).status.phase is TransferPhase.CANCELING
    assert not place.takeover.holds(place.upload.ref)


async def test_what_was_read_before_the_backup_was_decided_does_not_count(place):
    place.transfers.store = LooksLate(place)

    assert not await place.transfers.goes_on(place.upload)

    assert place.takeover.holds(place.upload.ref)
    assert (await place.store.get(Backup, "b")).status.phase is BackupPhase.FAILED
    assert place.woken == [place.upload.ref]

"""Changes of a resource that other writers change, too."""

import pytest

from tidegate.api.admission.changes import changed
from tidegate.errors import StaleVersion
from tidegate.model.backups.backup import Backup
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_backup


class Busy(MemoryStore):
    """Another writer is faster, so many times."""

    faster = 0

    async def update(self, resource):
        if self.faster:
            self.faster -= 1
            current = await self.get(Backup, resource.name)
            await self.update_status(current.with_status(warnings=current.status.warnings + 1))
        return await super().update(resource)


@pytest.fixture
async def store():
    store = Busy(clock=ManualClock(), new_id=counting_ids())
    await store.create(a_backup("b"))
    return store


async def test_a_change_is_made_to_the_newest_version_while_others_write(store):
    store.faster = 4

    stored = await changed(store, Backup, "b", lambda backup: backup.with_spec(priority=backup.status.warnings))

    assert (stored.spec.priority, stored.status.warnings) == (4, 4)


async def test_a_change_gives_up_when_others_never_stop(store):
    store.faster = 5

    with pytest.raises(StaleVersion):
        await changed(store, Backup, "b", lambda backup: backup.with_spec(priority=1))

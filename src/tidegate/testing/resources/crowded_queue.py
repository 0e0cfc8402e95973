"""A state with a long queue that stands still: for looking at it, not for running it."""

import asyncio
from pathlib import Path

from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.identity import new_id
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.reasons import Reason
from tidegate.model.resource import Metadata
from tidegate.model.setting import Setting, SettingSpec
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.resources.builders import a_backup, a_target
from tidegate.testing.resources.put import put

_NAMESPACES = 500


async def write_crowded_queue(database: Path, backups: int) -> None:
    """Queued backups b-00000, b-00001 and so on, straight into a new database: requests for them would take minutes."""
    store = await SqliteStore.open(database, clock=SystemClock(), new_id=new_id)
    now = SystemClock().now()
    await store.create(a_target("store", url=f"file://{database.parent}"))
    await store.create(Setting(metadata=Metadata(name="backup-queue-paused"), spec=SettingSpec(value="true")))
    queued = [
        a_backup(f"b-{number:05}", f"ns-{number % _NAMESPACES}", phase=BackupPhase.QUEUED, ticket=number * 1024)
        for number in range(backups)
    ]
    # With the reason that the server would write, or it would do so for each of them after its start.
    queued = [
        backup.replace(status=backup.status.replace(queued_at=now).waiting(Reason.PAUSED, "paused", since=now))
        for backup in queued
    ]
    await asyncio.gather(*(put(store, backup) for backup in queued))
    await store.close()

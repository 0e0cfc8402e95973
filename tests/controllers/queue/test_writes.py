"""What the queue writes: little for each backup, however long the queue and whoever waits for whom."""

from collections import Counter

import pytest

from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.testing.resources.builders import a_backup

IN_QUEUE = {BackupPhase.QUEUED, BackupPhase.READY_TO_START}


async def drained(world, limit, *scopes):
    """How often the status of each backup was written from joining the queue to leaving it."""
    await world.volumes(*(f"{namespace}/db" for namespace in "abc"))
    await world.setting("concurrent-backups", str(limit))
    await world.setting("load-concurrency", '{"globalConfig": 20}')
    since = (await world.store.list(Backup)).resource_version
    for number, scope in enumerate(scopes):
        await world.store.create(a_backup(f"b{number:03}", *scope))
    await world.settle()
    while any(not one.status.phase.final for one in await world.all(Backup)):
        for mover in world.movers.started:
            mover.finish(size=1)
        world.movers.started.clear()
        await world.settle()
    await world.store.create(a_backup("last"))
    writes, seen = Counter(), {}
    async for event in world.store.watch(Backup, since=since):
        backup = event.resource
        if backup.name == "last":
            return writes
        before = seen.get(backup.name)
        writes[backup.name] += backup.status.phase in IN_QUEUE and before != backup.status
        seen[backup.name] = backup.status
    raise AssertionError("the news end with the last one")


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize(
    "scopes",
    [
        [("a",)] * 30,
        [("a",), ("b",), ("c",)] * 10,
        [("a", "b"), ("b", "c"), ("c",), ("a", "c")] * 8,
        [("a",), ()] * 15,
    ],
    ids=["one namespace", "no overlap in sight", "chains", "all and one"],
)
async def test_a_backup_costs_at_most_four_writes_from_joining_the_queue_to_leaving_it(world, limit, scopes):
    writes = await drained(world, limit, *scopes)

    assert len(writes) == len(scopes)
    assert max(writes.values()) <= 4, writes.most_common(3)

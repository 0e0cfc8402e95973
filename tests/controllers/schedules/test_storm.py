"""Many schedules in the same minute, and a store that goes away at that very moment: velero#10519."""

from collections import Counter

from tidegate.model.backups.backup import Backup
from tidegate.model.schedules.schedule import SCHEDULE_LABEL
from tidegate.testing.resources.builders import a_schedule

SCHEDULES = 500


async def test_velero_10519_all_of_500_schedules_complete_though_the_target_goes_away_for_13_seconds(world):
    world.movers.obliging = True
    await world.setting("concurrent-backups", "20")
    # Two seconds before the storm; a target that answers is asked every 30 seconds, so one look falls into the outage.
    await world.passes(minutes=59, seconds=58)
    for number in range(SCHEDULES):
        await world.volumes(f"ns-{number}/data")
        await world.store.create(a_schedule(f"s-{number}", "0 1 * * *", f"ns-{number}"))
    await world.settle()
    world.store_probe.down = True
    await world.passes(seconds=13)
    while_away = Counter(str(backup.status.phase) for backup in await world.all(Backup))
    world.store_probe.down = False
    for _ in range(60):
        await world.passes(seconds=5)
        phases = Counter(str(backup.status.phase) for backup in await world.all(Backup))
        if phases["Completed"] == SCHEDULES:
            break

    assert while_away.total() == SCHEDULES
    assert while_away["Queued"] > 0
    assert phases == {"Completed": SCHEDULES}
    made_by = Counter(backup.metadata.labels[SCHEDULE_LABEL] for backup in await world.all(Backup))
    assert set(made_by.values()) == {1}

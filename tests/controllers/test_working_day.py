"""A working day of a server: what it asks of its store once it has started."""

from tidegate.model.backups.backup import Backup
from tidegate.model.kinds import KINDS
from tidegate.model.resource import Ref
from tidegate.resources.paged import PagedStore
from tidegate.testing.resources.builders import a_backup, a_restore, a_schedule
from tidegate.testing.resources.counting_store import CountingStore
from tidegate.testing.resources.put import put


async def test_after_the_start_nothing_is_listed_for_a_whole_day(a_world_of):
    world = await a_world_of(CountingStore)
    world.movers.obliging = True
    await world.volumes("shop/db", "shop/files", "blog/posts")
    await world.store.create(a_schedule("hourly", "0 * * * *", "shop"))
    await world.store.create(a_schedule("daily", "30 3 * * *", "blog"))
    assert world.kept.asked["list"] == len(KINDS), "each kind once, at the start"
    world.kept.asked.clear()

    for hour in range(24):
        await world.passes(minutes=30)
        await put(world.store, a_backup(f"asked-{hour}", "blog"))
        await world.settle()
        await world.passes(minutes=30)
    await put(world.store, a_restore("back", "shop"))
    await world.passes(minutes=10)
    await PagedStore(world.kept).delete(Ref("Backup", "asked-0"))
    await world.passes(minutes=10)

    phases = {str(backup.status.phase) for backup in world.runtime.state.store.cache(Backup)}
    assert len(world.runtime.state.store.cache(Backup)) > 40
    assert phases == {"Completed"}
    assert world.kept.asked["list"] == 0

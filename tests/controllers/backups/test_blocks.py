"""Blocks, hooks and orders, as the store tells them."""

import json

from tidegate.model.backups.backup import Backup
from tidegate.model.backups.hooks import OnError
from tidegate.model.backups.item_block import VOLUME_GROUP_LABEL
from tidegate.model.resource import Ref
from tidegate.model.setting import Setting
from tidegate.model.transfers.mover_job import UploadJob
from tidegate.model.transfers.transfer import PodVolumeBackup
from tidegate.testing.resources.builders import a_backup, a_volume, freezing


def paths(world):
    return [mover.job.path for mover in world.movers.started if isinstance(mover.job, UploadJob)]


async def blocks(world, name="b"):
    return [(block.volumes[0], str(block.phase)) for block in (await world.store.get(Backup, name)).status.blocks]


async def test_a_backup_has_one_block_under_way_by_default_whatever_the_node_could_do(world):
    await world.setting("load-concurrency", '{"globalConfig": 9}')
    await world.volumes("a/one", "a/two", "a/three")

    await world.store.create(a_backup("b", "a"))
    await world.settle()

    assert await blocks(world) == [("a/one", "Moving"), ("a/three", "Pending"), ("a/two", "Pending")]
    assert len(await world.all(PodVolumeBackup)) == 1


async def test_more_workers_take_more_blocks_at_once_also_of_a_backup_that_runs(world):
    await world.setting("load-concurrency", '{"globalConfig": 9}')
    await world.setting("item-block-worker-count", "2")
    await world.volumes("a/one", "a/two", "a/three")
    await world.store.create(a_backup("b", "a"))
    await world.settle()
    assert len(world.movers.started) == 2

    setting = await world.store.get(Setting, "item-block-worker-count")
    await world.store.update(setting.with_spec(value="3"))
    await world.settle()

    assert len(world.movers.started) == 3


async def test_each_backup_has_workers_of_its_own(world):
    await world.setting("load-concurrency", '{"globalConfig": 9}')
    await world.setting("concurrent-backups", "2")
    await world.volumes("a/one", "a/two", "b/one")

    await world.store.create(a_backup("first", "a"))
    await world.store.create(a_backup("second", "b"))
    await world.settle()

    assert sorted(paths(world)) == ["/data/a/one", "/data/b/one"]


async def test_volumes_of_one_group_are_read_together(world):
    await world.setting("load-concurrency", '{"globalConfig": 9}')
    for name in ("data", "wal"):
        await world.store.create(a_volume("db", name, f"/data/{name}", **{VOLUME_GROUP_LABEL: "pg"}))

    await world.store.create(a_backup("b", "db"))
    await world.settle()

    assert sorted(paths(world)) == ["/data/data", "/data/wal"]


async def test_ordered_volumes_go_first_and_one_after_the_other(world):
    await world.setting("load-concurrency", '{"globalConfig": 9}')
    await world.volumes("a/one", "a/two", "a/three")
    await world.store.create(a_backup("b", "a").with_spec(ordered_resources={"volumes": "a/two,a/three"}))
    await world.settle()
    for number in range(3):
        assert len(world.movers.started) == number + 1
        world.movers.started[number].finish()
        await world.settle()

    assert paths(world) == ["/data/a/two", "/data/a/three", "/data/a/one"]
    assert await world.phase(Backup, "b") == "Completed"


async def test_the_definition_of_a_volume_goes_into_its_backup(world):
    await world.store.create(a_volume("shop", "db", "/data/db", app="shop"))
    await world.store.create(a_backup("b", "shop"))
    await world.settle()

    definition = json.loads(world.movers.started[0].job.labels["tidegate.dev/volume-definition"])
    assert definition == {
        "apiVersion": "tidegate.dev/v1alpha1",
        "kind": "Volume",
        "metadata": {"name": "db", "namespace": "shop", "labels": {"app": "shop"}},
        "spec": {"directory": "/data/db", "excludes": []},
    }


async def test_a_volume_that_is_deleted_before_its_turn_is_a_warning(world):
    await world.volumes("a/one", "a/two")
    await world.store.create(a_backup("b", "a"))
    await world.settle()
    await world.store.delete(Ref("Volume", "two", "a"))
    world.movers.started[0].finish()
    await world.settle()

    backup = await world.store.get(Backup, "b")
    assert (str(backup.status.phase), backup.status.warnings, backup.status.gone_volumes) == (
        "Completed",
        1,
        ("a/two",),
    )


async def test_hooks_run_around_the_upload(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing()))
    await world.settle()
    assert world.hooks.told == ["pre freeze shop: db"]

    world.movers.started[0].finish()
    await world.settle()

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]
    backup = await world.store.get(Backup, "b")
    assert (str(backup.status.phase), backup.status.hook_status.hooks_attempted) == ("Completed", 2)


async def test_nothing_is_read_while_a_pre_hook_runs(world):
    world.hooks.stuck = {"freeze"}
    await world.volumes("shop/db")
    await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing()))
    await world.settle()
    assert (await blocks(world), world.movers.started) == ([("shop/db", "PreHooks")], [])

    world.hooks.let_go("freeze")
    await world.settle()

    assert len(world.movers.started) == 1


async def test_a_slow_hook_of_one_backup_holds_up_no_other(world):
    world.hooks.stuck = {"freeze"}
    await world.setting("concurrent-backups", "9")
    for number in range(6):
        await world.volumes(f"slow{number}/db")
        await world.store.create(a_backup(f"s{number}", f"slow{number}").with_spec(hooks=freezing()))
    await world.volumes("quick/db")
    await world.store.create(a_backup("q", "quick"))
    await world.settle()

    assert paths(world) == ["/data/quick/db"]


async def test_a_failed_pre_hook_keeps_its_volumes_out_and_the_others_go_on(world):
    world.hooks.failing = {"freeze": "the database does not answer"}
    await world.volumes("shop/db", "shop/files")
    await world.store.create(a_volume("shop", "db2", "/data/db2", app="db"))
    await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing(labels={"app": "db"})))
    await world.settle()
    world.movers.obliging = True
    for mover in world.movers.started:
        mover.finish()
    await world.settle()

    backup = await world.store.get(Backup, "b")
    why = "pre hook database for shop: the database does not answer"
    assert (str(backup.status.phase), backup.status.failure_reason) == ("PartiallyFailed", f"shop/db2: {why}")
    assert (backup.status.errors, backup.status.hook_status.hooks_failed) == (1, 1)
    assert paths(world) == ["/data/shop/db", "/data/shop/files"]
    assert world.hooks.told[-1] == "post thaw shop: db2", "what was half frozen is thawed"


async def test_a_backup_of_which_nothing_is_left_after_its_hooks_failed(world):
    world.hooks.failing = {"freeze": "no"}
    await world.volumes("shop/db")
    await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing()))
    await world.settle()

    assert await world.phase(Backup, "b") == "Failed"


async def test_a_hook_that_may_fail_is_a_warning(world):
    world.hooks.failing = {"freeze": "no", "thaw": "no"}
    world.movers.obliging = True
    await world.volumes("shop/db")
    await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing(on_error=OnError.CONTINUE)))
    await world.settle()

    backup = await world.store.get(Backup, "b")
    assert (str(backup.status.phase), backup.status.warnings, backup.status.errors) == ("Completed", 2, 0)


async def test_a_failed_post_hook_is_an_error_although_the_data_is_there(world):
    world.hooks.failing = {"thaw": "still frozen"}
    world.movers.obliging = True
    await world.volumes("shop/db")
    await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing()))
    await world.settle()

    backup = await world.store.get(Backup, "b")
    assert (str(backup.status.phase), backup.status.errors) == ("PartiallyFailed", 1)
    assert backup.status.failure_reason == "post hook database for shop: still frozen"


async def test_post_hooks_run_also_if_the_upload_failed(world):
    await world.volumes("shop/db")
    await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing()))
    await world.settle()
    world.movers.started[0].fail("SourceUnreadable", "gone")
    await world.settle()

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]
    assert await world.phase(Backup, "b") == "Failed"


async def test_a_cancelled_backup_thaws_what_it_froze_and_begins_nothing_more(world):
    await world.volumes("shop/db", "shop/files")
    backup = await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing()))
    await world.settle()
    backup = await world.store.get(Backup, "b")

    await world.store.cancel(backup.ref)
    await world.settle()

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]
    ended = await world.store.get(Backup, "b")
    assert (str(ended.status.phase), ended.status.failure_reason) == (
        "Canceled",
        "cancelled on request; 0 of 2 volumes were done",
    )


async def test_cancelling_does_not_wait_for_a_pre_hook_that_hangs(world):
    world.hooks.stuck = {"freeze"}
    await world.volumes("shop/db")
    await world.store.create(a_backup("b", "shop").with_spec(hooks=freezing()))
    await world.settle()

    await world.store.cancel(Ref("Backup", "b"))
    await world.settle()

    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]
    assert await world.phase(Backup, "b") == "Canceled"
    assert world.movers.started == []


async def test_a_running_backup_that_is_deleted_thaws_what_it_froze(world):
    await world.volumes("shop/db")
    frozen = a_backup("b", "shop").with_spec(hooks=freezing()).with_metadata(finalizers=("tidegate.dev/backup",))
    await world.store.create(frozen)
    await world.settle()

    await world.store.delete(Ref("Backup", "b"))
    await world.settle()
    assert world.hooks.told == ["pre freeze shop: db", "post thaw shop: db"]
    world.movers.started[-1].finish()
    await world.settle()

    assert await world.all(Backup) == []

"""The life of one transfer with its mover: prepared before it moves, watched while it does, ended whatever happens."""

import json

import pytest

from tidegate.model.resource import Metadata, Ref
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.transfers.transfer import DataDownload, DataUpload
from tidegate.testing.resources.builders import a_node, a_transfer
from tidegate.testing.resources.put import put


async def ask(world, name="t", kind=DataUpload, **spec):
    transfer = a_transfer(name, kind=kind, volume=("ns", name)).with_spec(**spec)
    await world.store.create(transfer.with_metadata(finalizers=("tidegate.dev/transfer",)))
    await world.settle()


async def status(world, name="t", kind=DataUpload):
    return (await world.store.get(kind, name)).status


async def phase(world, name="t", kind=DataUpload):
    return str((await status(world, name, kind)).phase)


async def change(world, name, value):
    stored = await world.store.get(Setting, name)
    await world.store.update(stored.replace(spec=SettingSpec(value=value)))
    await world.settle()


async def cancel(world, name="t"):
    await world.store.cancel(Ref("DataUpload", name))
    await world.settle()


async def test_a_transfer_is_accepted_until_its_mover_is_ready_and_moves_when_its_node_has_room(world):
    world.movers.hesitant = True
    await ask(world)
    assert (await phase(world), world.movers.started) == ("Accepted", [])

    world.movers.waiting[0].get_ready()
    await world.settle()

    assert (await phase(world), len(world.movers.started)) == ("InProgress", 1)


async def test_one_that_is_ready_waits_for_its_node_with_an_idle_mover_and_a_reason(world):
    await ask(world, "first")
    await ask(world, "second")

    waiting = await status(world, "second")
    assert (str(waiting.phase), waiting.condition("Waiting").reason) == ("Prepared", "NodeLoad")
    assert ([m.gone for m in world.movers.waiting], len(world.movers.started)) == ([False], 1)
    await world.movers_may_be_silent()
    await world.passes(hours=3)  # nobody who waits behind others fails for it
    world.movers.started[0].finish()
    await world.settle()
    assert await phase(world, "second") == "InProgress"


async def test_a_source_that_is_missing_fails_the_transfer_before_anything_moves(world):
    world.movers.hesitant = True
    await ask(world)
    world.movers.waiting[0].fail("SourceUnreadable", "/data does not exist")
    await world.settle()

    failed = await status(world)
    assert (str(failed.phase), failed.message, failed.error_code) == (
        "Failed",
        "/data does not exist",
        "SourceUnreadable",
    )
    assert failed.start_timestamp is None


async def test_a_mover_that_never_gets_ready_is_stopped_after_the_time_for_it(world):
    world.movers.hesitant = True
    await world.setting("data-mover-prepare-timeout", "5m")
    await ask(world)

    await world.passes(minutes=5)

    assert world.movers.waiting[0].cancelled
    assert (
        await status(world)
    ).message == "its mover was not ready 5m after it was accepted (data-mover-prepare-timeout)"


@pytest.mark.parametrize("ready", [True, False])
async def test_cancelling_before_it_moves_stops_its_mover_and_takes_no_slot(world, ready):
    await ask(world, "first")
    world.movers.hesitant = not ready
    await ask(world)
    await cancel(world)

    (idle,) = world.movers.waiting
    assert idle.cancelled
    assert (await phase(world), (await status(world)).message) == ("Canceled", "cancelled before it moved anything")


async def test_a_mover_that_is_silent_is_told_to_be_stalled_and_stopped_at_last(world):
    await ask(world)
    await world.passes(minutes=10)
    stalled = (await status(world)).condition("Stalled")
    assert (stalled.status, stalled.reason) == ("True", "NoProgress")
    assert stalled.message.startswith("no progress since 2026-01-01 00:00:00 UTC")

    world.movers.started[0].progress(1, 2)
    await world.settle()
    assert (await status(world)).condition("Stalled") is None

    await world.passes(minutes=30)
    assert world.movers.started[0].cancelled
    assert ((await status(world)).message, await phase(world)) == ("no progress for 30m", "Failed")


async def test_progress_says_when_it_was_heard(world):
    await ask(world)
    await world.passes(seconds=1)
    world.movers.started[0].progress(5, 10)
    await world.settle()

    progress = (await status(world)).progress
    assert (progress.stage, progress.bytes_done, progress.updated_at) == ("uploading", 5, world.clock.now())


async def test_a_small_transfer_costs_four_writes_of_its_status(world):
    versions = []
    before = (await world.store.list(DataUpload)).resource_version
    await ask(world)
    world.movers.started[0].progress(5, 10)
    world.movers.started[0].finish()
    await world.settle()
    async for event in world.store.watch(DataUpload, since=before):
        versions.append(str(event.resource.status.phase))
        if event.resource.status.phase.final:
            break

    assert versions == ["New", "Accepted", "Prepared", "InProgress", "Completed"]


async def test_a_mover_that_dies_makes_its_transfer_failed_with_its_last_words(world):
    await ask(world)
    world.movers.started[0].fail("MoverDied", "the mover was killed by SIGKILL; its last words: oh")
    await world.settle()

    assert (await status(world)).message == "the mover was killed by SIGKILL; its last words: oh"


async def test_a_stubborn_mover_holds_its_transfer_for_an_hour_and_no_longer(world):
    await ask(world)
    world.movers.started[0].stubborn = True
    await cancel(world)
    await world.passes(minutes=59)
    assert await phase(world) == "Canceling"

    await world.passes(minutes=1)

    ended = await status(world)
    assert str(ended.phase) == "Failed"
    assert ended.message == "cancelled on request; its mover had not ended 1h after it was asked to stop"


async def test_an_idle_upload_gets_a_new_mover_after_a_restart_and_keeps_its_place(world):
    world.movers.hesitant = True
    for name in ("a", "b"):
        await ask(world, name)

    await world.restart()

    assert [mover.job.path for mover in world.movers.started] == ["/data"]
    assert [await phase(world, name) for name in ("a", "b")] == ["InProgress", "Prepared"]


async def test_a_mover_gets_what_the_settings_allow_and_what_the_transfer_asks_for(world):
    await world.setting("data-mover-memory-limit", "256MiB")
    await world.setting("limit-upload", "10MiB")
    await ask(world, kind=DataDownload, includes=("*.txt",), force=True)

    job = world.movers.started[0].job
    assert (job.memory_bytes, job.upload_bytes_per_second, job.download_bytes_per_second) == (2**28, 10 * 2**20, None)
    assert (job.includes, job.force) == (("*.txt",), True)


async def test_movers_hear_of_their_bandwidth_when_it_changes_and_when_others_come_and_go(world):
    await world.setting("load-concurrency", json.dumps({"globalConfig": 2}))
    await world.setting("limit-upload-per-node", "8MiB")
    mib = 2**20
    await ask(world, "first")
    first = world.movers.started[0]
    assert (first.job.upload_bytes_per_second, first.bandwidth) == (8 * mib, [])

    await ask(world, "second")
    second = world.movers.started[1]
    assert (second.job.upload_bytes_per_second, second.bandwidth) == (4 * mib, [])
    assert first.bandwidth == [(4 * mib, None)]

    await change(world, "limit-upload-per-node", "2MiB")
    second.finish()
    await world.settle()

    assert first.bandwidth[1:] == [(mib, None), (2 * mib, None)]
    assert second.bandwidth == [(mib, None)]


async def test_movers_of_different_nodes_do_not_share_the_bandwidth_of_a_node(world):
    await world.setting("load-concurrency", json.dumps({"globalConfig": 2}))
    await world.setting("limit-download-per-node", "8MiB")
    for name in ("near", "far"):
        await put(world.store, a_node(name))
    await world.settle()
    mib = 2**20
    for name, node in (("a", "near"), ("b", "far"), ("c", "far")):
        await ask(world, name, kind=DataDownload, node=node)
    near, far, farther = world.movers.started

    assert [mover.job.download_bytes_per_second for mover in (near, far, farther)] == [8 * mib, 8 * mib, 4 * mib]
    assert [mover.bandwidth for mover in (near, far, farther)] == [[], [(None, 4 * mib)], []]

    far.finish()
    await world.settle()

    assert [mover.bandwidth[-1:] for mover in (near, farther)] == [[], [(None, 8 * mib)]]


async def test_a_transfer_that_is_deleted_while_its_mover_is_idle_goes_with_it(world):
    world.movers.hesitant = True
    await ask(world)
    await world.store.delete(Ref("DataUpload", "t"))
    await world.settle()
    world.movers.started[-1].finish()  # the removal
    await world.settle()

    assert await world.all(DataUpload) == []


async def test_a_setting_that_makes_no_sense_is_not_obeyed(world):
    await world.store.create(
        Setting(metadata=Metadata(name="data-mover-stall-timeout"), spec=SettingSpec(value="soon"))
    )
    await ask(world)

    await world.passes(minutes=10)

    assert (await status(world)).condition("Stalled").status == "True"

"""The life of a verification: restored, read back, checked, cleaned up, and told on the backup."""

from datetime import timedelta

import pytest

from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Metadata, Ref
from tidegate.model.transfers.transfer import PodVolumeRestore
from tidegate.model.verification.verification import (
    VERIFICATION_FINALIZER,
    CheckCommand,
    Verification,
    VerificationSpec,
)

CHECK = CheckCommand(command=("look", "--hard"))


def a_verification(name="v", **spec):
    metadata = Metadata(name=name, finalizers=(VERIFICATION_FINALIZER,))
    source = {} if "schedule_name" in spec else {"backup_name": "b"}
    return Verification(metadata=metadata, spec=VerificationSpec(**source, **spec))


async def asked(world, verification=None):
    await world.store.create(verification or a_verification())
    await world.settle()


async def finish_all(world, **result):
    while any(not mover.job.path.startswith("/done") for mover in world.movers.started):
        mover = world.movers.started.pop(0)
        mover.finish(size=100, **result)
        await world.settle()


async def record(world):
    return (await world.store.get(Backup, "b")).status.verification


async def test_every_volume_is_restored_into_a_place_of_its_own_and_read_back(backed_up):
    await asked(backed_up)

    jobs = [mover.job for mover in backed_up.movers.started]
    uid = (await backed_up.store.get(Verification, "v")).metadata.uid
    assert [job.path for job in jobs] == [f"/scratch/{uid}/blog/posts"]
    assert all(job.read_back for job in jobs)


async def test_a_backup_that_restores_is_told_as_verified_with_how_much(backed_up):
    await asked(backed_up)
    await finish_all(backed_up)

    assert await backed_up.phase(Verification, "v") == "Completed"
    found = await record(backed_up)
    assert (found.verified_by, found.volumes, found.bytes, found.failure) == ("v", 2, 200, None)
    assert found.verified_at == backed_up.clock.now()
    assert backed_up.scratch.made == set()


async def test_a_volume_that_does_not_come_back_fails_it_and_is_named_on_the_backup(backed_up):
    await asked(backed_up)
    backed_up.movers.started.pop(0).fail("DamagedBlock", "block 7 is damaged")
    await backed_up.settle()
    await finish_all(backed_up)

    found = await backed_up.store.get(Verification, "v")
    assert (str(found.status.phase), found.status.failure_reason) == ("Failed", "blog/posts: block 7 is damaged")
    told = await record(backed_up)
    assert (told.verified_at, told.failed_by, told.failure) == (None, "v", "blog/posts: block 7 is damaged")
    assert backed_up.scratch.made == set()


async def test_a_later_success_takes_the_failure_back_and_a_later_failure_keeps_the_success(backed_up):
    for name, works in (("v1", False), ("v2", True), ("v3", False)):
        await asked(backed_up, a_verification(name))
        if not works:
            backed_up.movers.started.pop(0).fail("DamagedBlock", f"damage {name}")
            await backed_up.settle()
        await finish_all(backed_up)
        told = await record(backed_up)
        if name == "v2":
            assert (told.verified_by, told.failure) == ("v2", None)

    assert (told.verified_by, told.failed_by) == ("v2", "v3")


async def test_a_check_runs_on_what_was_restored_and_its_failure_counts(backed_up):
    backed_up.hooks.failing["look"] = "look ended with exit code 3"
    await asked(backed_up, a_verification(check=CHECK))
    await finish_all(backed_up)

    found = await backed_up.store.get(Verification, "v")
    run = backed_up.hooks.runs[0]
    assert (run.command, str(run.stage), run.backup) == (("look", "--hard"), "verify", "b")
    assert run.place.startswith("/scratch/")
    assert run.volumes == ("blog/posts", "shop/db")
    assert found.status.failure_reason == "the check failed: look ended with exit code 3"
    assert backed_up.scratch.made == set()


async def test_no_check_runs_on_what_did_not_read_back(backed_up):
    await asked(backed_up, a_verification(check=CHECK))
    backed_up.movers.started.pop(0).fail("RestoredDataDiffers", "it differs")
    await backed_up.settle()
    await finish_all(backed_up)

    assert backed_up.hooks.runs == []
    assert await backed_up.phase(Verification, "v") == "Failed"


async def test_a_check_that_runs_when_the_server_dies_is_run_again_by_the_next(backed_up):
    backed_up.hooks.stuck.add("look")
    await asked(backed_up, a_verification(check=CHECK))
    await finish_all(backed_up)
    assert await backed_up.phase(Verification, "v") == "Checking"
    backed_up.hooks.let_go("look")
    await backed_up.restart()

    assert await backed_up.phase(Verification, "v") == "Completed"
    assert len(backed_up.hooks.runs) == 2


async def test_without_room_nothing_is_restored_and_the_sentence_says_how_much_is_missing(backed_up):
    backed_up.scratch.free = 0
    await asked(backed_up)

    found = await backed_up.store.get(Verification, "v")
    assert str(found.status.phase) == "Failed"
    assert "it needs 2 bytes and 0 are free" in found.status.failure_reason
    assert backed_up.scratch.made == set()
    assert await backed_up.all(PodVolumeRestore) == []
    assert await record(backed_up) is None


async def test_one_at_a_time_and_the_next_begins_when_the_first_is_over(backed_up):
    await asked(backed_up, a_verification("v1"))
    await asked(backed_up, a_verification("v2"))
    second = await backed_up.store.get(Verification, "v2")
    assert second.status.condition("Waiting").message == "verification v1 comes first"
    await finish_all(backed_up)

    assert await backed_up.phase(Verification, "v1") == "Completed"
    assert await backed_up.phase(Verification, "v2") == "Completed"
    assert (await backed_up.store.get(Verification, "v2")).status.condition("Waiting") is None


async def test_the_restore_limit_holds_verifications_too(backed_up):
    await backed_up.setting("concurrent-backup-restore-limit", "0")
    await asked(backed_up)

    downloads = await backed_up.all(PodVolumeRestore)
    assert {d.status.condition("Waiting").reason for d in downloads} == {"RestoresDisabled"}
    held = await backed_up.store.get(Verification, "v")
    assert held.status.condition("Waiting").reason == "RestoresDisabled"
    await backed_up.store.delete(Ref("Setting", "concurrent-backup-restore-limit"))
    await backed_up.settle()
    await finish_all(backed_up)
    assert await backed_up.phase(Verification, "v") == "Completed"
    assert (await backed_up.store.get(Verification, "v")).status.condition("Waiting") is None


@pytest.mark.parametrize("moment", ["waiting", "moving", "checking"])
async def test_one_that_is_called_off_leaves_nothing_and_proves_nothing(backed_up, moment):
    if moment == "waiting":
        await asked(backed_up, a_verification("first"))
    backed_up.hooks.stuck.add("look")
    await asked(backed_up, a_verification(check=CHECK))
    if moment == "checking":
        await finish_all(backed_up)
    verification = await backed_up.store.get(Verification, "v")
    await backed_up.store.cancel(verification.ref)
    await backed_up.settle()

    assert await backed_up.phase(Verification, "v") == "Canceled"
    assert not any(verification.metadata.uid in place for place in backed_up.scratch.made)
    assert await record(backed_up) is None


async def test_one_that_is_deleted_under_way_stops_and_leaves_nothing(backed_up):
    await asked(backed_up)
    await backed_up.store.delete(Ref("Verification", "v"))
    await backed_up.settle()

    assert await backed_up.all(Verification) == []
    assert await backed_up.all(PodVolumeRestore) == []
    assert backed_up.scratch.made == set()


async def test_a_place_that_cannot_be_removed_is_tried_again_and_told_in_the_end(backed_up):
    backed_up.scratch.stuck = "/scratch/x cannot be removed: something is mounted there"
    await asked(backed_up)
    await finish_all(backed_up)
    assert await backed_up.phase(Verification, "v") == "CleaningUp"
    await backed_up.passes(minutes=11)

    found = await backed_up.store.get(Verification, "v")
    assert str(found.status.phase) == "Completed"
    assert found.status.failure_reason == backed_up.scratch.stuck
    assert (await record(backed_up)).verified_by == "v"


async def test_a_backup_that_is_not_there_is_told_in_a_sentence(world):
    await asked(world)

    found = await world.store.get(Verification, "v")
    assert (str(found.status.phase), found.status.validation_errors) == ("FailedValidation", ("there is no backup b",))


async def test_a_backup_stays_as_long_as_somebody_proves_it(backed_up):
    backup = await backed_up.store.get(Backup, "b")
    await backed_up.store.update_status(backup.with_status(expiration=backed_up.clock.now() + timedelta(minutes=2)))
    await backed_up.setting("concurrent-backup-restore-limit", "0")
    await asked(backed_up)
    await backed_up.passes(minutes=5)
    assert await backed_up.phase(Backup, "b") == "Completed"
    verification = await backed_up.store.get(Verification, "v")
    await backed_up.store.cancel(verification.ref)
    await backed_up.passes(minutes=2)

    assert await backed_up.phase(Verification, "v") == "Canceled"
    assert all(one.deleting for one in await backed_up.all(Backup))

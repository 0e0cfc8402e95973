"""What a restore would do, and what is in its way."""

import pytest

from tidegate.decide.queue.claims import RestoreClaim
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.restores.places import placements
from tidegate.decide.restores.plan import PlanSurroundings, plan_restore
from tidegate.decide.restores.queue import plan_restores
from tidegate.decide.stores.target_away import no_answer
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.reasons import Reason
from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.restores.restore_plan import Place, PlaceState, Room
from tidegate.model.transfers.transfer import TransferSpec
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.model.volumes.volume_ref import volume_ref

TREE, IMAGE, DEVICE = VolumeKind.DIRECTORY, VolumeKind.IMAGE, VolumeKind.DEVICE
S = PlaceState


def plan(kind=TREE, state=S.FREE, *, around=None, **spec):
    there = {name: spec.pop(name) for name in ("mounted", "used_by", "in_the_way", "room") if name in spec}
    source = TransferSpec(
        volume_namespace="a",
        volume_name="db",
        volume_kind=kind,
        path="/x",
        target="store",
        store_volume="v",
        store_backup="backup-1",
    )
    wanted = RestoreSpec(backup_name="b", **spec)
    places = {volume_ref(kind, "/x"): Place(state=state, detail="12 things", **there)}
    found = PlanSurroundings(places=places, sizes={"backup-1": 5}, **(around or {}))
    return plan_restore(wanted, placements(wanted, [source], {}), found, backup="b")


OVERWRITE = {"existing_data": ExistingData.OVERWRITE}


@pytest.mark.parametrize(
    ("kind", "state", "spec", "conflict"),
    [
        (TREE, S.FREE, {}, ""),
        (TREE, S.EMPTY, {}, ""),
        (TREE, S.DIRECTORY, {}, "/x holds something (12 things); use --existing-data overwrite"),
        (TREE, S.DIRECTORY, OVERWRITE, ""),
        (TREE, S.FILE, OVERWRITE, "is not a directory"),
        (TREE, S.UNREADABLE, OVERWRITE, "/x cannot be looked at: 12 things"),
        (IMAGE, S.FREE, {}, ""),
        (IMAGE, S.FILE, {}, "holds something"),
        (IMAGE, S.FILE, OVERWRITE, ""),
        (IMAGE, S.EMPTY, OVERWRITE, "is not a regular file"),
        (IMAGE, S.DEVICE, OVERWRITE, "is not a regular file"),
        (DEVICE, S.DEVICE, OVERWRITE, "only --force writes onto one"),
        (DEVICE, S.DEVICE, {"force": True}, ""),
        (DEVICE, S.FREE, {"force": True}, "is not a block device"),
    ],
)
def test_what_is_there_decides_whether_a_volume_can_come_back(kind, state, spec, conflict):
    conflicts = plan(kind, state, **spec).conflicts

    assert len(conflicts) == bool(conflict)
    assert not conflict or conflict in conflicts[0].message


def test_a_mounted_volume_is_a_conflict_unless_forced_and_then_a_warning():
    assert "only --force" in plan(state=S.EMPTY, mounted=True).conflicts[0].message
    forced = plan(state=S.EMPTY, mounted=True, force=True)
    told = "/x is mounted: it is replaced entry by entry (--force), and who uses it sees a mixture"
    assert (forced.conflicts, forced.warnings) == ((), (told,))


@pytest.mark.parametrize(("kind", "state"), [(TREE, S.DIRECTORY), (IMAGE, S.FILE)])
def test_what_somebody_uses_is_a_conflict_unless_forced_and_then_a_warning(kind, state):
    (conflict,) = plan(kind, state, used_by="qemu (process 7)", **OVERWRITE).conflicts
    assert conflict.message.startswith("/x is in use by qemu (process 7); stop that, or use --force")

    forced = plan(kind, state, used_by="qemu (process 7)", force=True, **OVERWRITE)
    told = "/x is in use by qemu (process 7): it is replaced (--force), and what that writes is lost"
    assert (forced.conflicts, forced.warnings) == ((), (told, "what is at /x now is lost"))


@pytest.mark.parametrize("mounted", [True, False])
def test_a_device_is_written_to_by_force_and_the_plan_says_what_that_means(mounted):
    (told,) = plan(DEVICE, S.DEVICE, mounted=mounted, force=True).warnings

    assert told.startswith("/x is written in place (--force): what it holds is lost, also if the restore fails")
    assert told.endswith("; it is 12 things, and whoever uses it may spoil it") == mounted


def test_what_would_be_lost_is_a_warning():
    assert plan(state=S.DIRECTORY, **OVERWRITE).warnings == ("what is at /x now is lost",)


def test_a_place_that_cannot_be_made_is_a_conflict():
    (conflict,) = plan(in_the_way="/file is not a directory").conflicts

    assert conflict.message == "/x cannot be made: /file is not a directory"


@pytest.mark.parametrize(
    ("free", "warnings"),
    [(5, ()), (4, ("0.0 MiB would be restored to where 0.0 MiB are free: /x",))],
)
def test_a_file_system_that_may_be_too_small_is_a_warning(free, warnings):
    assert plan(room=Room(file_system="1", free_bytes=free)).warnings == warnings


def test_who_selects_paths_is_told_which_volumes_come_back_as_a_whole():
    tight = Room(file_system="1", free_bytes=0)

    assert plan(TREE, included_paths=("etc/**",), room=tight).warnings == ()
    assert plan(IMAGE, included_paths=("etc/**",)).warnings == ("a/db is of kind image: it comes back as a whole",)


def test_the_volumes_say_where_they_come_from_and_what_is_there():
    (volume,) = plan(state=S.DIRECTORY).volumes

    assert (volume.volume, volume.size, volume.destination, volume.store_backup) == ("a/db", 5, "/x", "backup-1")
    assert volume.place == Place(state=S.DIRECTORY, detail="12 things")


def test_waits_are_no_conflicts():
    claim = RestoreClaim("r", Scope(frozenset({"a"})), running=False)
    (waiting,) = plan_restores([claim], [], paused=True).wait
    down = {"store": no_answer("store")}
    found = plan(around={"unavailable_targets": down, "waiting_volumes": 3, "waiting": waiting})

    assert found.conflicts == ()
    assert [wait.reason for wait in found.waits] == [
        Reason.RESTORES_DISABLED,
        Reason.TARGET_UNAVAILABLE,
        Reason.RESTORE_LIMIT,
    ]
    assert found.queue_position == 1

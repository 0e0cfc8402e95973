"""Which deletions of a volume go, together, and why the others wait or are refused."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.stores.deletions import (
    DeletionPlan,
    Obstacle,
    VolumeLook,
    plan_deletions,
    retried_now,
    retry_delay,
    wanted_gone,
    why_not_ask,
)
from tidegate.errors import Refused
from tidegate.model.reasons import Reason
from tidegate.model.resource import Metadata, OwnerReference
from tidegate.model.stores.deletion import Deletion, DeletionPhase, DeletionSpec, DeletionStatus
from tidegate.model.stores.target import BackupTarget, BackupTargetSpec, BackupTargetStatus, StoreIdentity
from tidegate.model.transfers.transfer import DataDownload, DataUpload, TransferPhase, TransferSpec, TransferStatus
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.testing.clock import BEGINNING

URL = "file:///store"


def deletion(name, *backups, phase=DeletionPhase.WAITING, url=URL, cancel=False, **status):
    return Deletion(
        metadata=Metadata(name=name, creation_timestamp=BEGINNING),
        spec=DeletionSpec(target="store", url=url, volume="vol", backups=backups, cancel=cancel),
        status=DeletionStatus(phase=phase, **status),
    )


def target(*, available=True, url=URL):
    return BackupTarget(
        metadata=Metadata(name="store"),
        spec=BackupTargetSpec(url=url),
        status=BackupTargetStatus(available=available, store=StoreIdentity(url=url)),
    )


def transfer(kind, backup, phase, *, made=BEGINNING - timedelta(hours=1)):
    owner = {DataDownload: ("Restore", "r1"), DataUpload: ("Backup", "nightly")}[kind]
    return kind(
        metadata=Metadata(
            name="moves",
            creation_timestamp=made,
            owner_references=(OwnerReference(kind=owner[0], name=owner[1], uid="u"),),
        ),
        spec=TransferSpec(
            volume_namespace="shop",
            volume_name="db",
            volume_kind=VolumeKind.IMAGE,
            path="/db",
            target="store",
            store_volume="vol",
            store_backup=backup,
        ),
        status=TransferStatus(phase=phase),
    )


def look(**around):
    return VolumeLook(**{"target": target(), "now": BEGINNING, **around})


def test_all_deletions_of_a_volume_go_together():
    plan = plan_deletions([deletion("a", "b-1"), deletion("b", "b-2", "b-3"), deletion("c")], look())

    assert plan == DeletionPlan(run=["a", "b", "c"])


@pytest.mark.parametrize("phase", [phase for phase in TransferPhase if not phase.final])
def test_what_a_restore_reads_waits_for_it_and_the_others_do_not(phase):
    reading = transfer(DataDownload, "b-1", phase)
    plan = plan_deletions([deletion("a", "b-1"), deletion("b", "b-2")], look(transfers=[reading]))

    why = Obstacle(Reason.DEPENDENCY, "restore r1 reads it; it is deleted when that has ended")
    assert plan == DeletionPlan(wait={"a": why}, run=["b"])


def test_a_whole_volume_waits_for_any_restore_of_it():
    plan = plan_deletions([deletion("a")], look(transfers=[transfer(DataDownload, "b-1", TransferPhase.NEW)]))

    assert plan.wait["a"].reason is Reason.DEPENDENCY


def test_an_upload_that_moves_is_waited_for_because_it_may_build_on_what_goes():
    moving = transfer(DataUpload, "b-9", TransferPhase.IN_PROGRESS)
    plan = plan_deletions([deletion("a", "b-1")], look(transfers=[moving]))

    assert plan.wait == {
        "a": Obstacle(Reason.DEPENDENCY, "backup nightly writes to the same volume and may build on it")
    }


@pytest.mark.parametrize("phase", [TransferPhase.COMPLETED, TransferPhase.FAILED, TransferPhase.CANCELED])
@pytest.mark.parametrize("kind", [DataUpload, DataDownload])
def test_nobody_waits_for_what_is_over(kind, phase):
    assert plan_deletions([deletion("a", "b-1")], look(transfers=[transfer(kind, "b-1", phase)])).run == ["a"]


@pytest.mark.parametrize("phase", [TransferPhase.NEW, TransferPhase.IN_PROGRESS, TransferPhase.COMPLETED])
def test_a_volume_is_not_deleted_with_a_backup_that_was_begun_after_somebody_asked(phase):
    later = transfer(DataUpload, "b-9", phase, made=BEGINNING + timedelta(seconds=1))
    plan = plan_deletions([deletion("a"), deletion("b", "b-1")], look(transfers=[later]))

    assert list(plan.refuse) == ["a"]
    assert "begun after its deletion was asked for" in plan.refuse["a"]
    assert "b" not in plan.refuse


def test_a_target_that_points_elsewhere_by_now_is_another_store_where_nothing_goes():
    plan = plan_deletions([deletion("a", "b-1"), deletion("b")], look(target=target(url="file:///other")))

    assert list(plan.refuse) == ["a", "b"]
    assert plan.run == []


def test_a_target_that_is_gone_ends_its_deletions():
    assert list(plan_deletions([deletion("a", "b-1")], look(target=None)).refuse) == ["a"]


def test_a_store_that_is_away_is_waited_for():
    plan = plan_deletions([deletion("a", "b-1")], look(target=target(available=False)))

    assert plan == DeletionPlan(wait={"a": Obstacle(Reason.TARGET_UNAVAILABLE, "target store does not answer")})


def test_whoever_cancels_is_heard_before_anything_else_but_not_while_a_worker_runs():
    cancelled = deletion("a", "b-1", cancel=True)
    running = deletion("b", "b-2", cancel=True, phase=DeletionPhase.RUNNING)

    assert plan_deletions([cancelled, running], look(at_work=True, target=None)) == DeletionPlan(cancel=["a"])


def test_what_is_asked_while_a_worker_runs_goes_with_the_next_one():
    running, new = deletion("a", "b-1", phase=DeletionPhase.RUNNING), deletion("b", "b-2")
    plan = plan_deletions([running, new], look(at_work=True))

    assert plan.run == []
    assert list(plan.wait) == ["b"]


def test_a_deletion_whose_worker_died_with_its_server_is_done_again():
    assert plan_deletions([deletion("a", "b-1", phase=DeletionPhase.RUNNING)], look()).run == ["a"]


def test_a_failed_try_holds_back_the_volume_until_its_time_has_come():
    retry_at = BEGINNING + timedelta(seconds=20)
    failed = deletion("a", "b-1", phase=DeletionPhase.RETRYING, message="no answer", retry_at=retry_at, attempts=3)
    both = [failed, deletion("b", "b-2")]

    before = plan_deletions(both, look())
    assert (before.run, before.again_at, list(before.wait)) == ([], retry_at, ["b"])
    assert "no answer" in before.wait["b"].message
    assert plan_deletions(both, look(now=retry_at)).run == ["a", "b"]


def test_without_a_free_slot_it_waits_and_says_so():
    plan = plan_deletions([deletion("a", "b-1")], look(slot_free=False))

    assert plan.wants_slot
    assert plan.wait["a"].reason is Reason.CONCURRENCY_LIMIT


def test_nobody_may_ask_for_what_a_restore_reads_or_an_upload_still_writes():
    reading = transfer(DataDownload, "b-1", TransferPhase.IN_PROGRESS)
    writing = transfer(DataUpload, "b-2", TransferPhase.NEW)

    assert why_not_ask(["b-1"], [reading]) == "restore r1 reads b-1 of volume vol"
    assert why_not_ask(["b-2"], [writing]) == "backup nightly still writes b-2 of volume vol"
    assert why_not_ask([], [reading]) == "restore r1 reads b-1 of volume vol"
    assert why_not_ask([], [writing]) == "backup nightly still writes b-2 of volume vol"


def test_an_older_backup_may_go_while_a_newer_one_of_its_volume_is_written():
    assert why_not_ask(["b-1"], [transfer(DataUpload, "b-2", TransferPhase.IN_PROGRESS)]) == ""


def test_what_is_wanted_gone_is_told_by_volume_until_it_is_settled_or_cancelled():
    every = [
        deletion("a", "b-1"),
        deletion("b", "b-2", "b-1", phase=DeletionPhase.DONE),
        deletion("c", "b-3", phase=DeletionPhase.DONE, settled=True),
        deletion("d", cancel=True),
    ]

    assert wanted_gone(every) == {("store", "vol"): frozenset({"b-1", "b-2"})}
    assert wanted_gone([deletion("e")]) == {("store", "vol"): frozenset({""})}


@given(st.integers(0, 10_000))
def test_tries_come_later_and_later_up_to_half_an_hour(attempts):
    assert timedelta(seconds=5) <= retry_delay(attempts) <= retry_delay(attempts + 1) <= timedelta(minutes=30)


PHASES = st.sampled_from([DeletionPhase.WAITING, DeletionPhase.RUNNING, DeletionPhase.RETRYING])
NAMES = st.lists(st.sampled_from(["b-1", "b-2", "b-3"]), unique=True, max_size=2)
MOVES = st.lists(
    st.builds(
        transfer,
        st.sampled_from([DataUpload, DataDownload]),
        st.sampled_from(["b-1", "b-2", "b-3"]),
        st.sampled_from(list(TransferPhase)),
    ),
    max_size=4,
)


@given(st.lists(st.tuples(NAMES, PHASES, st.booleans()), max_size=6), MOVES, st.booleans(), st.booleans())
def test_each_deletion_gets_one_answer_and_nothing_that_is_read_ever_goes(wishes, moves, at_work, slot_free):
    every = [deletion(f"d{n}", *names, phase=p, cancel=c) for n, (names, p, c) in enumerate(wishes)]
    plan = plan_deletions(every, look(transfers=moves, at_work=at_work, slot_free=slot_free))

    answers = [*plan.cancel, *plan.refuse, *plan.wait, *plan.run]
    left_alone = [one.name for one in every if at_work and one.status.phase is DeletionPhase.RUNNING]
    assert sorted([*answers, *left_alone]) == sorted(one.name for one in every)
    read = {m.spec.store_backup for m in moves if m.direction == "download" and not m.status.phase.final}
    for one in every:
        if one.name in plan.run:
            assert not one.spec.cancel
            assert not read & set(one.spec.backups or read)


def test_whoever_asks_for_a_retry_does_not_wait_for_it_and_waits_for_the_one_after():
    later = BEGINNING + timedelta(hours=1)
    failed = deletion("a", "b-1", phase=DeletionPhase.RETRYING, attempts=3, retry_at=later)
    asked = failed.with_spec(retry_now_after=3)

    assert plan_deletions([failed], look()).again_at == later
    assert plan_deletions([asked], look()).run == ["a"]
    assert plan_deletions([asked.with_status(attempts=4)], look()).again_at == later


def test_a_retry_takes_along_all_of_the_volume_that_wait_for_their_next_try():
    asked = deletion("a", "b-1", phase=DeletionPhase.RETRYING, attempts=3, retry_at=BEGINNING)
    other = deletion("b", "b-2", phase=DeletionPhase.RETRYING, attempts=1, retry_at=BEGINNING)
    waits = deletion("c", "b-3")

    retried = retried_now(asked, [asked, other, waits])

    assert [(one.name, one.spec.retry_now_after, one.not_before) for one in retried] == [("a", 3, None), ("b", 1, None)]


@pytest.mark.parametrize("phase", [phase for phase in DeletionPhase if phase is not DeletionPhase.RETRYING])
def test_only_a_deletion_that_waits_for_its_next_try_is_retried(phase):
    asked = deletion("a", "b-1", phase=phase)

    with pytest.raises(Refused, match=f"deletion a is {phase}; only one that is Retrying"):
        retried_now(asked, [asked])

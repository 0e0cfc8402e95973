"""What transfers say about their request, and which volumes a request is about."""

from datetime import timedelta

import pytest

from tidegate.decide.jobs.rollup import roll_up
from tidegate.decide.volumes.selection import (
    check_choice,
    newest_good_backup,
    uploads_lost,
    uploads_to_restore,
    volumes_to_back_up,
)
from tidegate.errors import InvalidInput, NotFound
from tidegate.model.backups.backup import BackupPhase, BackupSpec, LabelSelector
from tidegate.model.resource import Condition
from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.transfers.transfer import ALL_REMOVED, DATA_REMOVED, TransferPhase, TransferResult
from tidegate.testing.resources.builders import THEN, a_backup, a_transfer, a_volume, emptied

DONE, FAILED, CANCELED, MOVING = (
    TransferPhase.COMPLETED,
    TransferPhase.FAILED,
    TransferPhase.CANCELED,
    TransferPhase.IN_PROGRESS,
)


@pytest.mark.parametrize(
    ("phases", "finished", "outcome"),
    [
        ([], True, "Completed"),
        ([DONE, DONE], True, "Completed"),
        ([DONE, MOVING], False, "Completed"),
        ([DONE, FAILED], True, "PartiallyFailed"),
        ([DONE, CANCELED], True, "PartiallyFailed"),
        ([FAILED, CANCELED], True, "Failed"),
        ([CANCELED], True, "Canceled"),
    ],
)
def test_the_phases_of_the_transfers_make_the_outcome(phases, finished, outcome):
    rollup = roll_up([a_transfer(f"t{i}", phase) for i, phase in enumerate(phases)])

    assert (rollup.finished, rollup.outcome) == (finished, outcome)


def test_the_first_failure_names_its_volume():
    rollup = roll_up([a_transfer("t", FAILED, volume=("shop", "db"), message="disk on fire")])

    assert rollup.first_failure == "shop/db: disk on fire"


def left_out(name, *paths):
    return a_transfer(name, DONE, volume=("shop", name)).with_status(result=TransferResult(left_out=paths))


def test_what_could_not_be_read_makes_the_outcome_partial_and_is_named():
    rollup = roll_up([a_transfer("a", DONE), left_out("db", "secret", "closed/inside")])

    assert (rollup.finished, rollup.outcome, rollup.incomplete) == (True, "PartiallyFailed", 1)
    assert rollup.first_failure == "shop/db: could not be read and is not in the backup: secret, closed/inside"


def test_many_that_could_not_be_read_are_counted_after_the_first_few():
    rollup = roll_up([left_out("db", *"abcdefgh")])

    assert rollup.first_failure == "shop/db: could not be read and is not in the backup: a, b, c, d, e and 3 more"


def test_a_failure_speaks_before_what_was_left_out():
    rollup = roll_up([left_out("a", "secret"), a_transfer("t", FAILED, volume=("shop", "db"), message="disk on fire")])

    assert rollup.first_failure == "shop/db: disk on fire"


VOLUMES = [a_volume("a", "one", app="x"), a_volume("a", "two"), a_volume("b", "one", app="y")]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (BackupSpec(), ["a/one", "a/two", "b/one"]),
        (BackupSpec(included_namespaces=("a",)), ["a/one", "a/two"]),
        (BackupSpec(excluded_namespaces=("a",)), ["b/one"]),
        (BackupSpec(label_selector=LabelSelector(match_labels={"app": "x"})), ["a/one"]),
        (
            BackupSpec(or_label_selectors=tuple(LabelSelector(match_labels={"app": app}) for app in "xy")),
            ["a/one", "b/one"],
        ),
    ],
)
def test_a_backup_takes_the_volumes_that_pass_namespaces_and_labels(spec, expected):
    assert [f"{v.namespace}/{v.name}" for v in volumes_to_back_up(spec, reversed(VOLUMES))] == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (RestoreSpec(backup_name="b"), ["a/one", "b/one"]),
        (RestoreSpec(backup_name="b", included_namespaces=("a",)), ["a/one"]),
        (RestoreSpec(backup_name="b", included_volumes=("b/one",)), ["b/one"]),
        (RestoreSpec(backup_name="b", included_volumes=("one",)), ["a/one", "b/one"]),
    ],
)
def test_a_restore_takes_the_finished_uploads_that_it_names(spec, expected):
    uploads = [
        a_transfer("t1", DONE, volume=("b", "one")),
        a_transfer("t2", DONE, volume=("a", "one")),
        a_transfer("t3", FAILED, volume=("a", "two")),
    ]

    assert [f"{u.spec.volume_namespace}/{u.spec.volume_name}" for u in uploads_to_restore(spec, uploads)] == expected


HELD = [a_transfer("t1", DONE, volume=("b", "one")), a_transfer("t2", FAILED, volume=("a", "two"))]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"included_volumes": ("b/on",)}, "nothing of volume b/on"),
        ({"included_volumes": ("a/two",)}, "nothing of volume a/two"),
        ({"included_namespaces": ("a",)}, "nothing of namespace a"),
        ({"namespace_mapping": {"c": "d"}}, "nothing of namespace c"),
        ({"volume_order": ("one",)}, "nothing of volume one"),
        ({"excluded_namespaces": ("b",)}, "nothing of what is asked for"),
        ({"included_namespaces": ("x*",)}, "nothing of what is asked for"),
    ],
)
def test_a_name_that_the_backup_does_not_hold_is_told(spec, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        check_choice(RestoreSpec(backup_name="b", **spec), HELD)


def test_a_name_without_a_namespace_is_good_enough_only_where_one_volume_has_it():
    """Else one word would overwrite a volume in every namespace."""
    choice = RestoreSpec(backup_name="b", included_volumes=("one",))

    check_choice(choice, HELD)
    with pytest.raises(InvalidInput, match=r"one may be any of a/one, b/one"):
        check_choice(choice, [*HELD, a_transfer("t3", DONE, volume=("a", "one"))])


def test_what_was_deleted_from_the_store_is_lost_to_those_who_want_it_and_told_to_those_who_name_it():
    removed = Condition(type=DATA_REMOVED, status="True", reason=ALL_REMOVED)
    gone = a_transfer("t3", DONE, volume=("c", "three"))
    uploads = [*HELD, gone.replace(status=gone.status.with_condition(removed))]

    def lost(**spec):
        return [upload.name for upload in uploads_lost(RestoreSpec(backup_name="b", **spec), uploads)]

    assert (lost(), lost(included_namespaces=("b",)), lost(excluded_namespaces=("c",))) == (["t3"], [], [])
    with pytest.raises(InvalidInput, match=r"nothing of volume c/three; it was deleted from the store since"):
        check_choice(RestoreSpec(backup_name="b", included_volumes=("c/three",)), uploads)


def of_schedule(name, phase, hours):
    backup = a_backup(name, phase=phase).with_status(start_timestamp=THEN + timedelta(hours=hours))
    return backup.with_metadata(labels={"tidegate.dev/schedule": "nightly"})


def test_the_newest_good_backup_is_never_one_that_holds_nothing():
    backups = [of_schedule("n1", BackupPhase.COMPLETED, 1), emptied(of_schedule("n2", BackupPhase.COMPLETED, 2))]

    assert newest_good_backup("nightly", backups).name == "n1"
    with pytest.raises(NotFound, match="holds something"):
        newest_good_backup("nightly", backups[1:])


def test_the_newest_good_backup_is_the_last_one_that_is_complete():
    backups = [
        of_schedule("n1", BackupPhase.COMPLETED, 1),
        of_schedule("n2", BackupPhase.COMPLETED, 2),
        of_schedule("n3", BackupPhase.PARTIALLY_FAILED, 3),
        of_schedule("n4", BackupPhase.IN_PROGRESS, 4),
    ]

    assert newest_good_backup("nightly", backups).name == "n2"
    with pytest.raises(NotFound, match="no backup that is Completed"):
        newest_good_backup("nightly", backups[2:])

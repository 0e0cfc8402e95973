from datetime import UTC, datetime, timedelta

import pytest

from tidegate.decide.resources.lifecycle import (
    Removed,
    Stored,
    Unchanged,
    is_orphan,
    on_create,
    on_delete,
    on_status,
    on_update,
)
from tidegate.errors import Refused, StaleVersion
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import OwnerReference
from tidegate.testing.resources.resources import a_backup

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def stored(**metadata: object) -> Backup:
    return on_create(a_backup("nightly", **metadata), version="5", uid="uid-1", now=NOON).resource


def marked(**metadata: object) -> Backup:
    return stored(**metadata).with_metadata(deletion_timestamp=NOON)


def test_a_new_resource_begins_at_generation_one_with_the_stores_own_fields() -> None:
    forged = a_backup(uid="mine", generation=9, deletion_timestamp=NOON, labels={"a": "b"})

    born = on_create(forged, version="5", uid="uid-1", now=NOON).resource

    assert born == a_backup(uid="uid-1", resource_version="5", generation=1, creation_timestamp=NOON, labels={"a": "b"})


def test_a_change_of_the_spec_counts_as_a_generation() -> None:
    plan = on_update(stored(), stored().with_spec(priority=3), version="6")

    assert plan == Stored(stored().with_spec(priority=3).with_metadata(resource_version="6", generation=2))


def test_a_change_of_the_metadata_is_no_generation() -> None:
    plan = on_update(stored(), stored().with_metadata(labels={"a": "b"}), version="6")

    assert plan == Stored(stored().with_metadata(resource_version="6", labels={"a": "b"}))


def test_an_update_never_touches_the_status_and_a_status_update_nothing_else() -> None:
    wanted = stored().with_status(warnings=1)
    assert on_update(stored(), wanted, version="6") == Unchanged(stored())
    assert on_status(stored(), wanted, version="6") == Stored(wanted.with_metadata(resource_version="6"))
    assert on_status(stored(), stored().with_spec(priority=3), version="6") == Unchanged(stored())


@pytest.mark.parametrize(
    "forged",
    [{"creation_timestamp": None}, {"deletion_timestamp": NOON}, {"generation": 9}, {"uid": ""}],
)
def test_wishes_about_the_stores_fields_have_no_effect(forged: dict[str, object]) -> None:
    assert on_update(stored(), stored().with_metadata(**forged), version="6") == Unchanged(stored())


@pytest.mark.parametrize("stale", [{"resource_version": "4"}, {"resource_version": ""}, {"uid": "uid-0"}])
def test_a_write_for_anything_but_the_newest_version_is_refused(stale: dict[str, object]) -> None:
    for decide in (on_update, on_status):
        with pytest.raises(StaleVersion):
            decide(stored(), stored().with_metadata(**stale), version="6")


def test_deleting_removes_at_once_what_nobody_holds() -> None:
    assert on_delete(stored(), now=NOON, version="6") == Removed(stored())


def test_deleting_marks_what_somebody_holds_and_the_first_mark_stays() -> None:
    held = stored(finalizers=("a",))

    plan = on_delete(held, now=NOON, version="6")

    assert plan == Stored(held.with_metadata(deletion_timestamp=NOON, resource_version="6"))
    assert on_delete(plan.resource, now=NOON + timedelta(hours=1), version="7") == Unchanged(plan.resource)


def test_a_marked_resource_goes_with_its_last_finalizer_and_not_before() -> None:
    held = marked(finalizers=("a", "b"))

    assert isinstance(on_update(held, held.with_metadata(finalizers=("b",)), version="6"), Stored)
    assert on_update(held, held.with_metadata(finalizers=()), version="6") == Removed(held.with_metadata(finalizers=()))


def test_no_finalizer_can_be_added_once_deletion_has_begun() -> None:
    held = marked(finalizers=("a",))

    with pytest.raises(Refused):
        on_update(held, held.with_metadata(finalizers=("b",)), version="6")


@pytest.mark.parametrize(
    ("owners", "living", "orphan"),
    [((), set(), False), (("a",), {"a"}, False), (("a",), set(), True), (("a", "b"), {"b"}, False)],
)
def test_an_orphan_had_owners_and_none_of_them_lives(
    owners: tuple[str, ...], living: set[str], *, orphan: bool
) -> None:
    references = tuple(OwnerReference(kind="Backup", name=uid, uid=uid) for uid in owners)

    assert is_orphan(stored(owner_references=references), lives=living.__contains__) is orphan

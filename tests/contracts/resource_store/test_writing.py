"""ResourceStore: create, update, update_status."""

import asyncio
from datetime import UTC, datetime

import pytest

from tidegate.errors import AlreadyExists, InvalidInput, NotFound, StaleVersion
from tidegate.model.backups.backup import Backup, BackupPhase, BackupStatus
from tidegate.model.transfers.node import NodeStatus
from tidegate.model.transfers.transfer import TransferPhase, TransferStatus
from tidegate.model.volumes.volume import Volume
from tidegate.ports.resource_store import Change, ResourceStore
from tidegate.testing.resources.builders import a_node, a_transfer
from tidegate.testing.resources.put import put
from tidegate.testing.resources.resources import a_backup, a_volume, take

LONG_AGO = datetime(1999, 1, 1, tzinfo=UTC)


async def test_create_fills_in_what_belongs_to_the_store(store: ResourceStore) -> None:
    created = (await store.create(a_backup())).metadata

    assert created.uid
    assert created.resource_version
    assert created.generation == 1
    assert created.creation_timestamp is not None
    assert created.deletion_timestamp is None


async def test_create_takes_over_all_that_is_the_callers_but_the_status(store: ResourceStore) -> None:
    wanted = a_backup(labels={"app": "shop"}, annotations={"why": "x y"}, finalizers=("a",)).with_status(warnings=3)

    created = await store.create(wanted)

    assert created.spec == wanted.spec
    assert created.status == a_backup().status
    assert created.metadata.labels == {"app": "shop"}
    assert created.metadata.annotations == {"why": "x y"}
    assert created.metadata.finalizers == ("a",)


async def test_a_second_write_says_what_is(store: ResourceStore) -> None:
    created = await store.create(a_backup())
    told = await store.update_status(created.with_status(warnings=3))

    assert told.status.warnings == 3
    assert told.metadata.generation == created.metadata.generation
    assert told.metadata.resource_version != created.metadata.resource_version


async def test_every_kind_begins_with_its_empty_status_whatever_was_sent(store: ResourceStore) -> None:
    node = await store.create(a_node("n", ready=True))
    transfer = await store.create(a_transfer("t", TransferPhase.FAILED, message="sent"))
    backup = await store.create(a_backup().replace(status=BackupStatus(phase=BackupPhase.COMPLETED, queue_ticket=1)))

    assert (node.status, transfer.status, backup.status) == (NodeStatus(), TransferStatus(), BackupStatus())
    assert await store.get(Backup, "nightly") == backup


async def test_the_event_of_a_create_has_no_status_either(store: ResourceStore) -> None:
    since = (await store.list(Backup)).resource_version
    await store.update_status((await store.create(a_backup().with_status(warnings=3))).with_status(warnings=4))

    added, modified = await take(store.watch(Backup, since=since), 2)
    assert (added.change, added.resource.status) == (Change.ADDED, BackupStatus())
    assert (modified.change, modified.resource.status) == (Change.MODIFIED, BackupStatus(warnings=4))


async def test_what_a_write_returns_is_what_a_read_finds(store: ResourceStore) -> None:
    created = await store.create(a_volume())
    assert await store.get(Volume, "db", "shop") == created

    changed = await store.update_status(created.with_status(size=5))
    assert await store.get(Volume, "db", "shop") == changed


async def test_the_callers_idea_of_the_stores_fields_is_ignored_when_creating(store: ResourceStore) -> None:
    forged = a_backup(generation=7, creation_timestamp=LONG_AGO, deletion_timestamp=LONG_AGO)

    created = await store.create(forged)

    assert created.metadata.generation == 1
    assert created.metadata.creation_timestamp != LONG_AGO
    assert not created.deleting


async def test_a_taken_name_is_refused_and_the_first_stays_as_it_was(store: ResourceStore) -> None:
    first = await store.create(a_backup())

    with pytest.raises(AlreadyExists):
        await store.create(a_backup(labels={"second": "yes"}))

    assert await store.get(Backup, "nightly") == first


async def test_a_name_is_taken_also_by_one_that_is_being_deleted(store: ResourceStore) -> None:
    await store.create(a_backup(finalizers=("busy",)))
    await store.delete(a_backup().ref)

    with pytest.raises(AlreadyExists):
        await store.create(a_backup())


async def test_a_name_may_be_used_once_per_kind_and_namespace(store: ResourceStore) -> None:
    one = await store.create(a_volume("db", "one"))
    two = await store.create(a_volume("db", "two"))
    other_kind = await store.create(a_backup("db"))

    assert await store.get(Volume, "db", "one") == one
    assert await store.get(Volume, "db", "two") == two
    assert await store.get(Backup, "db") == other_kind


async def test_a_name_that_comes_again_gets_another_uid(store: ResourceStore) -> None:
    first = await store.create(a_backup())
    await store.delete(first.ref)

    assert (await store.create(a_backup())).metadata.uid != first.metadata.uid


async def test_only_one_of_many_who_create_the_same_name_succeeds(store: ResourceStore) -> None:
    tries = await asyncio.gather(*(store.create(a_backup()) for _ in range(16)), return_exceptions=True)

    assert sum(isinstance(outcome, Backup) for outcome in tries) == 1
    assert sum(isinstance(outcome, AlreadyExists) for outcome in tries) == 15


async def test_update_replaces_all_but_the_status(store: ResourceStore) -> None:
    created = await put(store, a_backup().with_status(warnings=1))
    wanted = created.with_spec(priority=5).with_status(warnings=99)
    wanted = wanted.with_metadata(labels={"a": "b"}, annotations={"c": "d"}, finalizers=("e",))

    updated = await store.update(wanted)

    assert updated.spec == wanted.spec
    assert updated.status == created.status
    assert updated.metadata.labels == {"a": "b"}
    assert updated.metadata.annotations == {"c": "d"}
    assert updated.metadata.finalizers == ("e",)
    assert await store.get(Backup, "nightly") == updated


async def test_update_status_replaces_the_status_only(store: ResourceStore) -> None:
    created = await store.create(a_backup())
    wanted = created.with_spec(priority=5).with_metadata(labels={"a": "b"}).with_status(phase=BackupPhase.QUEUED)

    updated = await store.update_status(wanted)

    assert updated.status == wanted.status
    assert updated.spec == created.spec
    assert updated.metadata == created.metadata.replace(resource_version=updated.metadata.resource_version)


async def test_the_generation_counts_changes_of_the_spec_only(store: ResourceStore) -> None:
    backup = await store.create(a_backup())
    backup = await store.update(backup.with_metadata(labels={"a": "b"}))
    backup = await store.update_status(backup.with_status(warnings=1))
    assert backup.metadata.generation == 1

    backup = await store.update(backup.with_spec(priority=1))
    assert backup.metadata.generation == 2


async def test_an_update_cannot_change_what_belongs_to_the_store(store: ResourceStore) -> None:
    created = await store.create(a_backup())
    forged = created.with_metadata(generation=7, creation_timestamp=LONG_AGO, deletion_timestamp=LONG_AGO)

    await store.update(forged)

    assert await store.get(Backup, "nightly") == created


async def test_a_stale_update_is_refused_and_changes_nothing(store: ResourceStore) -> None:
    old = await store.create(a_backup())
    new = await store.update_status(old.with_status(warnings=1))

    with pytest.raises(StaleVersion):
        await store.update(old.with_spec(priority=1))
    with pytest.raises(StaleVersion):
        await store.update_status(old.with_status(warnings=2))

    assert await store.get(Backup, "nightly") == new


async def test_a_write_for_an_earlier_namesake_is_stale(store: ResourceStore) -> None:
    first = await store.create(a_backup())
    await store.delete(first.ref)
    second = await store.create(a_backup())

    with pytest.raises(StaleVersion):
        await store.update_status(first.with_status(warnings=1))

    assert await store.get(Backup, "nightly") == second


async def test_what_is_gone_cannot_be_updated(store: ResourceStore) -> None:
    gone = await store.create(a_backup())
    await store.delete(gone.ref)

    with pytest.raises(NotFound):
        await store.update(gone.with_spec(priority=1))
    with pytest.raises(NotFound):
        await store.update_status(gone.with_status(warnings=1))


async def test_a_write_that_changes_nothing_keeps_the_version_and_tells_nobody(store: ResourceStore) -> None:
    created = await store.create(a_backup(labels={"a": "b", "c": "d"}))

    assert await store.update(created.with_metadata(labels={"c": "d", "a": "b"})) == created
    assert await store.update_status(created) == created

    marker = await store.create(a_backup("marker"))
    (event,) = await take(store.watch(Backup, since=created.metadata.resource_version), 1)
    assert event.resource == marker


async def test_what_could_not_be_read_back_is_refused(store: ResourceStore) -> None:
    with pytest.raises(InvalidInput):
        await store.create(a_volume().with_spec(image="/also/an/image"))

    assert (await store.list(Volume)).items == ()


async def test_of_64_writers_of_one_version_exactly_one_wins(store: ResourceStore) -> None:
    backup = await store.create(a_backup())
    for round_number in range(1, 5):
        wishes = [backup.with_status(warnings=round_number, errors=writer) for writer in range(64)]
        outcomes = await asyncio.gather(*map(store.update_status, wishes), return_exceptions=True)

        winners = [outcome for outcome in outcomes if isinstance(outcome, Backup)]
        assert len(winners) == 1
        assert sum(isinstance(outcome, StaleVersion) for outcome in outcomes) == 63
        backup = await store.get(Backup, "nightly")
        assert backup == winners[0]

"""ResourceStore: cancel."""

import asyncio

import pytest

from tidegate.errors import InvalidInput, NotFound, Refused, StaleVersion
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.resource import Metadata, Ref
from tidegate.model.stores.deletion import Deletion, DeletionPhase, DeletionSpec
from tidegate.ports.resource_store import Change, ResourceStore
from tidegate.testing.resources.put import put
from tidegate.testing.resources.resources import a_backup, a_volume, take

NIGHTLY = Ref("Backup", "nightly")


def a_deletion(phase: DeletionPhase, **wanted: object) -> Deletion:
    spec = DeletionSpec.model_validate({"target": "store", "url": "file:///store", "volume": "shop.db", **wanted})
    return Deletion(metadata=Metadata(name="d"), spec=spec).with_status(phase=phase)


async def test_a_cancel_sets_the_request_and_nothing_else(store: ResourceStore) -> None:
    created = await put(store, a_backup(labels={"a": "b"}).with_status(warnings=2))

    cancelled = await store.cancel(NIGHTLY)

    metadata = created.metadata.replace(resource_version=cancelled.metadata.resource_version, generation=2)
    assert cancelled == created.with_spec(cancel=True).replace(metadata=metadata)
    assert await store.get(Backup, "nightly") == cancelled


async def test_watchers_hear_of_a_cancel_once(store: ResourceStore) -> None:
    created = await store.create(a_backup())
    cancelled = await store.cancel(NIGHTLY)
    assert await store.cancel(NIGHTLY) == cancelled
    marker = await store.create(a_backup("marker"))

    first, second = await take(store.watch(Backup, since=created.metadata.resource_version), 2)

    assert (first.change, first.resource) == (Change.MODIFIED, cancelled)
    assert second.resource == marker


async def test_a_cancel_needs_no_version_so_a_busy_writer_cannot_keep_it_out(store: ResourceStore) -> None:
    created = await store.create(a_backup())
    for warnings in range(3):
        created = await store.update_status(created.with_status(warnings=warnings))

    await asyncio.gather(store.update_status(created.with_status(warnings=9)), store.cancel(NIGHTLY))

    assert (await store.get(Backup, "nightly")).spec.cancel


async def test_a_status_that_was_decided_before_the_cancel_is_stale(store: ResourceStore) -> None:
    created = await store.create(a_backup())
    await store.cancel(NIGHTLY)

    with pytest.raises(StaleVersion):
        await store.update_status(created.with_status(phase=BackupPhase.COMPLETED))


async def test_no_update_takes_a_cancel_back(store: ResourceStore) -> None:
    created = await store.create(a_backup())
    cancelled = await store.cancel(NIGHTLY)

    changed = await store.update(cancelled.replace(spec=created.spec.replace(priority=5)))

    assert changed.spec == cancelled.spec.replace(priority=5)
    assert await store.update(changed.with_spec(cancel=False)) == changed


async def test_no_update_cancels(store: ResourceStore) -> None:
    created = await store.create(a_backup())

    assert await store.update(created.with_spec(cancel=True)) == created


async def test_what_is_gone_or_another_by_the_same_name_is_not_cancelled(store: ResourceStore) -> None:
    first = await store.create(a_backup())
    await store.delete(NIGHTLY)
    with pytest.raises(NotFound):
        await store.cancel(NIGHTLY)

    second = await store.create(a_backup())
    with pytest.raises(NotFound):
        await store.cancel(NIGHTLY, uid=first.metadata.uid)

    assert await store.get(Backup, "nightly") == second
    assert (await store.cancel(NIGHTLY, uid=second.metadata.uid)).metadata.uid == second.metadata.uid


async def test_a_kind_without_the_request_is_refused(store: ResourceStore) -> None:
    volume = await store.create(a_volume())

    with pytest.raises(InvalidInput, match="a Volume cannot be cancelled"):
        await store.cancel(volume.ref)


async def test_a_cancel_that_comes_too_late_changes_nothing(store: ResourceStore) -> None:
    ended = await put(store, a_backup().with_status(phase=BackupPhase.COMPLETED))
    with pytest.raises(Refused, match="backup nightly is Completed; there is nothing to cancel"):
        await store.cancel(NIGHTLY)
    assert await store.get(Backup, "nightly") == ended

    leaving = await store.create(a_backup("leaving", finalizers=("busy",)))
    await store.delete(leaving.ref)
    with pytest.raises(Refused, match="backup leaving is being deleted; there is nothing to cancel"):
        await store.cancel(leaving.ref)
    assert not (await store.get(Backup, "leaving")).spec.cancel


@pytest.mark.parametrize("phase", [DeletionPhase.WAITING, DeletionPhase.RETRYING])
async def test_a_deletion_can_be_cancelled_while_it_is_not_at_work(store: ResourceStore, phase: DeletionPhase) -> None:
    deletion = await put(store, a_deletion(phase))

    cancelled = await store.cancel(deletion.ref, uid=deletion.metadata.uid)

    assert await store.get(Deletion, "d") == cancelled
    assert cancelled.spec == deletion.spec.replace(cancel=True)


async def test_a_deletion_that_has_begun_or_belongs_to_an_upload_is_not_cancelled(store: ResourceStore) -> None:
    running = await put(store, a_deletion(DeletionPhase.RUNNING))
    with pytest.raises(Refused, match="deletion d has begun"):
        await store.cancel(running.ref)
    await store.delete(running.ref)

    owned = await put(store, a_deletion(DeletionPhase.WAITING, upload="DataUpload/u"))
    with pytest.raises(Refused, match="deletion d belongs to DataUpload/u"):
        await store.cancel(owned.ref)
    assert await store.get(Deletion, "d") == owned

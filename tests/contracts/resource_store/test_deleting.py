"""ResourceStore: delete, finalizers, owners."""

import pytest

from tidegate.errors import NotFound, Refused
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Resource
from tidegate.model.volumes.volume import Volume
from tidegate.ports.resource_store import Change, Event, ResourceStore
from tidegate.testing.clock import settle
from tidegate.testing.resources.resources import a_backup, a_setting, a_volume, take


async def names_of_volumes(store: ResourceStore) -> list[str]:
    await settle()  # a cache hears of what others removed
    return [volume.name for volume in (await store.list(Volume)).items]


async def volume_events(store: ResourceStore, *, after: Resource, count: int) -> list[Event]:
    """Owners may take their time with dependents, so tests wait for the events."""
    return list(await take(store.watch(Volume, since=after.metadata.resource_version), count))


async def test_what_is_deleted_is_gone(store: ResourceStore) -> None:
    created = await store.create(a_backup())

    await store.delete(created.ref)

    with pytest.raises(NotFound):
        await store.get(Backup, "nightly")
    assert (await store.list(Backup)).items == ()


async def test_what_is_not_there_cannot_be_deleted(store: ResourceStore) -> None:
    with pytest.raises(NotFound):
        await store.delete(a_backup().ref)


async def test_a_namesake_that_came_later_is_left_alone(store: ResourceStore) -> None:
    first = await store.create(a_backup())
    await store.delete(first.ref, uid=first.metadata.uid)
    second = await store.create(a_backup())

    with pytest.raises(NotFound):
        await store.delete(second.ref, uid=first.metadata.uid)

    assert await store.get(Backup, "nightly") == second


async def test_while_it_has_finalizers_it_is_only_marked(store: ResourceStore) -> None:
    created = await store.create(a_backup(finalizers=("busy",)))

    await store.delete(created.ref)

    marked = await store.get(Backup, "nightly")
    assert marked.deleting
    assert marked.metadata.resource_version != created.metadata.resource_version
    assert (marked.spec, marked.status) == (created.spec, created.status)


async def test_marking_twice_changes_nothing(store: ResourceStore) -> None:
    await store.create(a_backup(finalizers=("busy",)))
    await store.delete(a_backup().ref)
    marked = await store.get(Backup, "nightly")

    await store.delete(a_backup().ref)

    assert await store.get(Backup, "nightly") == marked


async def test_it_goes_with_its_last_finalizer(store: ResourceStore) -> None:
    created = await store.create(a_backup(finalizers=("one", "two")))
    await store.delete(created.ref)
    marked = await store.get(Backup, "nightly")

    half = await store.update(marked.with_metadata(finalizers=("two",)))
    assert await store.get(Backup, "nightly") == half

    last = await store.update(half.with_metadata(finalizers=()))
    assert last.metadata.finalizers == ()
    with pytest.raises(NotFound):
        await store.get(Backup, "nightly")


async def test_a_resource_that_nobody_deleted_may_lose_its_last_finalizer(store: ResourceStore) -> None:
    created = await store.create(a_backup(finalizers=("one",)))

    updated = await store.update(created.with_metadata(finalizers=()))

    assert await store.get(Backup, "nightly") == updated


async def test_the_status_of_a_marked_resource_can_still_be_written(store: ResourceStore) -> None:
    created = await store.create(a_backup(finalizers=("one",)))
    await store.delete(created.ref)
    marked = await store.get(Backup, "nightly")

    updated = await store.update_status(marked.with_status(warnings=1))

    assert await store.get(Backup, "nightly") == updated
    assert updated.deleting


async def test_nobody_can_hold_up_a_deletion_that_has_begun(store: ResourceStore) -> None:
    created = await store.create(a_backup(finalizers=("one",)))
    await store.delete(created.ref)
    marked = await store.get(Backup, "nightly")

    with pytest.raises(Refused):
        await store.update(marked.with_metadata(finalizers=("one", "late")))

    assert await store.get(Backup, "nightly") == marked


async def test_what_names_the_removed_one_as_its_last_owner_goes_too(store: ResourceStore) -> None:
    owner = await store.create(a_backup())
    await store.create(a_volume("other"))
    child = await store.create(a_volume("child", owner_references=(owner.as_owner(),)))
    grandchild = await store.create(a_volume("grandchild", owner_references=(child.as_owner(),)))

    await store.delete(owner.ref)

    events = await volume_events(store, after=grandchild, count=2)
    assert {(event.change, event.resource.name) for event in events} == {
        (Change.DELETED, "child"),
        (Change.DELETED, "grandchild"),
    }
    assert await names_of_volumes(store) == ["other"]


async def test_what_has_another_living_owner_stays_until_that_goes(store: ResourceStore) -> None:
    one, two = await store.create(a_backup("one")), await store.create(a_backup("two"))
    child = await store.create(a_volume(owner_references=(one.as_owner(), two.as_owner())))

    await store.delete(one.ref)
    assert await names_of_volumes(store) == ["db"]

    await store.delete(two.ref)
    events = await volume_events(store, after=child, count=1)
    while events[-1].change is not Change.DELETED:
        events += await volume_events(store, after=events[-1].resource, count=1)
    assert await names_of_volumes(store) == []


async def test_a_dependent_with_finalizers_is_marked_when_its_owner_goes(store: ResourceStore) -> None:
    owner = await store.create(a_backup())
    child = await store.create(a_volume(finalizers=("busy",), owner_references=(owner.as_owner(),)))

    await store.delete(owner.ref)

    (event,) = await volume_events(store, after=child, count=1)
    assert (event.change, event.resource.deleting) == (Change.MODIFIED, True)
    assert await names_of_volumes(store) == ["db"]


async def test_a_dependent_of_two_owners_that_go_together_is_marked_once(store: ResourceStore) -> None:
    root = await store.create(a_backup())
    one = await store.create(a_setting("one").with_metadata(owner_references=(root.as_owner(),)))
    two = await store.create(a_setting("two").with_metadata(owner_references=(root.as_owner(),)))
    both = (one.as_owner(), two.as_owner())
    child = await store.create(a_volume(finalizers=("busy",), owner_references=both))

    await store.delete(root.ref)

    (marked,) = await volume_events(store, after=child, count=1)
    end = await store.create(a_volume("end"))
    (event,) = await volume_events(store, after=marked.resource, count=1)
    assert marked.resource.deleting
    assert event.resource == end


async def test_dependents_stay_while_their_owner_is_only_marked(store: ResourceStore) -> None:
    owner = await store.create(a_backup(finalizers=("busy",)))
    child = await store.create(a_volume(owner_references=(owner.as_owner(),)))

    await store.delete(owner.ref)
    assert await names_of_volumes(store) == ["db"]

    marked = await store.get(Backup, "nightly")
    await store.update(marked.with_metadata(finalizers=()))
    (event,) = await volume_events(store, after=child, count=1)
    assert event.change is Change.DELETED


async def test_what_comes_after_its_last_owner_went_goes_too(store: ResourceStore) -> None:
    owner = await store.create(a_backup())
    await store.delete(owner.ref)

    late = await store.create(a_volume(owner_references=(owner.as_owner(),)))

    (event,) = await volume_events(store, after=late, count=1)
    assert (event.change, event.resource.metadata.uid) == (Change.DELETED, late.metadata.uid)


async def test_a_dependent_that_let_go_of_its_owner_stays(store: ResourceStore) -> None:
    owner = await store.create(a_backup())
    child = await store.create(a_volume(owner_references=(owner.as_owner(),)))
    freed = await store.update(child.with_metadata(owner_references=()))

    await store.delete(owner.ref)
    await store.create(a_setting())

    assert (await store.list(Volume)).items == (freed,)

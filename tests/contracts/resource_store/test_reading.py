"""ResourceStore: get, list, pages, selectors."""

import pytest

from tidegate.errors import InvalidInput, NotFound
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.volumes.volume import Volume
from tidegate.ports.resource_store import ResourceStore
from tidegate.testing.resources.resources import a_backup, a_volume


async def names(store: ResourceStore, selector: str = "", namespace: str | None = None) -> list[str]:
    page = await store.list(Volume, selector=Selector.parse(selector), namespace=namespace)
    assert page.marker is None
    return [f"{volume.namespace}/{volume.name}" for volume in page.items]


async def test_what_does_not_exist_is_not_found(store: ResourceStore) -> None:
    await store.create(a_volume("db", "shop"))

    for name, namespace in (("other", "shop"), ("db", "other"), ("db", "")):
        with pytest.raises(NotFound):
            await store.get(Volume, name, namespace)
    with pytest.raises(NotFound):
        await store.get(Backup, "db", "shop")


async def test_a_list_is_ordered_by_namespace_and_name(store: ResourceStore) -> None:
    for namespace, name in (("b", "z"), ("a-b", "m"), ("a", "z"), ("b", "a"), ("a", "a.b"), ("a", "a-b"), ("a", "a")):
        await store.create(a_volume(name, namespace))

    assert await names(store) == ["a/a", "a/a-b", "a/a.b", "a/z", "a-b/m", "b/a", "b/z"]


async def test_a_list_holds_one_kind(store: ResourceStore) -> None:
    backup = await store.create(a_backup())
    await store.create(a_volume())

    assert (await store.list(Backup)).items == (backup,)


async def test_a_list_may_be_of_one_namespace(store: ResourceStore) -> None:
    for namespace in ("one", "two", "two-b"):
        await store.create(a_volume("db", namespace))

    assert await names(store, namespace="two") == ["two/db"]
    assert await names(store, namespace="three") == []


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("", "abcd"),
        ("app=shop", "ab"),
        ("app==shop,tier=web", "a"),
        ("tier=web,app=shop", "a"),
        ("app!=shop", "cd"),
        ("app in (shop, blog)", "abc"),
        ("app in (shop, blog),tier notin (db)", "ac"),
        ("app notin (shop, blog)", "d"),
        ("tier", "abc"),
        ("!tier", "d"),
        ("!app", "d"),
        ("app,!tier", ""),
        ("app=", ""),
        ("empty=", "d"),
        ("tier!=db,app!=blog", "ad"),
        ("example.com/part-of=all", "abcd"),
    ],
)
async def test_a_selector_selects_as_in_kubernetes(store: ResourceStore, selector: str, selected: str) -> None:
    labels = {
        "a": {"app": "shop", "tier": "web"},
        "b": {"app": "shop", "tier": "db"},
        "c": {"app": "blog", "tier": "web"},
        "d": {"empty": ""},
    }
    for name, given in labels.items():
        await store.create(a_volume(name, labels=given | {"example.com/part-of": "all"}))
    await store.create(a_backup("a", labels={"app": "shop", "tier": "web"}))

    assert await names(store, selector) == [f"shop/{name}" for name in selected]


async def test_a_selector_sees_labels_as_they_are_now(store: ResourceStore) -> None:
    volume = await store.create(a_volume(labels={"app": "shop", "old": "yes"}))
    await store.update(volume.with_metadata(labels={"app": "blog"}))

    assert await names(store, "app=shop") == []
    assert await names(store, "old") == []
    assert await names(store, "app=blog") == ["shop/db"]

    await store.delete(volume.ref)
    await store.create(a_volume())
    assert await names(store, "app") == []


@pytest.mark.parametrize("selector", ["", "odd=no", "odd notin (yes)"])
async def test_pages_together_are_the_whole_list(store: ResourceStore, selector: str) -> None:
    for number in range(20):
        await store.create(a_volume(f"v{number:02}", f"ns{number % 3}", labels={"odd": "yes" if number % 2 else "no"}))
    chosen = Selector.parse(selector)
    whole = (await store.list(Volume, selector=chosen)).items

    collected: list[Volume] = []
    page = await store.list(Volume, selector=chosen, limit=3)
    while page.marker is not None:
        assert len(page.items) == 3
        collected += page.items
        page = await store.list(Volume, selector=chosen, limit=3, marker=page.marker)

    assert (*collected, *page.items) == whole


async def test_a_page_that_holds_exactly_the_rest_is_the_last(store: ResourceStore) -> None:
    for number in range(4):
        await store.create(a_volume(f"v{number}"))

    first = await store.list(Volume, limit=2)
    second = await store.list(Volume, limit=2, marker=first.marker)

    assert [volume.name for volume in second.items] == ["v2", "v3"]
    assert second.marker is None


async def test_pages_miss_nothing_that_existed_throughout(store: ResourceStore) -> None:
    for number in range(6):
        await store.create(a_volume(f"v{number}"))

    first = await store.list(Volume, limit=3)
    # The very place where the next page begins vanishes, and something new comes before it.
    await store.delete(first.items[-1].ref)
    await store.create(a_volume("a-new-one"))
    second = await store.list(Volume, limit=3, marker=first.marker)

    assert [volume.name for volume in (*first.items, *second.items)] == ["v0", "v1", "v2", "v3", "v4", "v5"]


async def test_a_limit_below_one_and_a_strange_marker_are_refused(store: ResourceStore) -> None:
    with pytest.raises(InvalidInput):
        await store.list(Volume, limit=0)
    with pytest.raises(InvalidInput):
        await store.list(Volume, marker="what is this")


async def test_hostile_names_and_labels_find_nothing(store: ResourceStore) -> None:
    await store.create(a_volume(labels={"app": "shop"}))

    assert (await store.list(Volume, namespace="' OR 1=1 --")).items == ()
    assert (await store.list(Volume, selector=Selector.matching({"app": "') OR 1=1 --"}))).items == ()
    with pytest.raises(NotFound):
        await store.get(Volume, "db' OR '1'='1", "shop")

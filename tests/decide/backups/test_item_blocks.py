"""What is handled together, and in which order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.backups.item_blocks import group_items, ordered_volumes, plan_blocks
from tidegate.errors import InvalidInput
from tidegate.model.backups.backup import BackupSpec
from tidegate.model.backups.hooks import BackupHooks, ExecHook, Hook, ResourceHooks
from tidegate.model.backups.item_block import VOLUME_GROUP_LABEL
from tidegate.model.label_selector import LabelSelector
from tidegate.model.resource import Ref
from tidegate.testing.resources.builders import a_volume

POD, CLAIM, OTHER_CLAIM, VOLUME, ALONE = (
    Ref("Pod", "web", "shop"),
    Ref("PersistentVolumeClaim", "db", "shop"),
    Ref("PersistentVolumeClaim", "files", "shop"),
    Ref("PersistentVolume", "pv-1"),
    Ref("ConfigMap", "alone", "shop"),
)


def grouped(namespace, name, group):
    return a_volume(namespace, name, **{VOLUME_GROUP_LABEL: group})


def volumes_of(blocks):
    return [block.volumes for block in blocks]


def test_relations_are_followed_until_nothing_new_is_found():
    related = {POD: [CLAIM, OTHER_CLAIM], CLAIM: [VOLUME]}

    blocks = group_items([ALONE, VOLUME, POD, CLAIM, OTHER_CLAIM], lambda item: related.get(item, ()))

    assert blocks == [(ALONE,), (VOLUME, POD, CLAIM, OTHER_CLAIM)]


def test_what_is_related_but_not_part_of_the_backup_is_left_out():
    assert group_items([POD], lambda _item: [CLAIM]) == [(POD,)]


items = st.lists(st.integers(0, 30).map(lambda n: Ref("Thing", str(n))), unique=True, max_size=30)
pairs = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=30)


@given(items, pairs)
def test_every_item_is_in_exactly_one_block_with_all_that_is_related_to_it(items, pairs):
    def related(item):
        return [Ref("Thing", str(b)) for a, b in pairs if str(a) == item.name]

    blocks = group_items(items, related)

    flat = [item for block in blocks for item in block]
    assert sorted(flat) == sorted(items)
    home = {item: block for block in blocks for item in block}
    assert all(home[item] is home[other] for item in items for other in related(item) if other in home)


@given(items, pairs)
def test_the_order_is_that_of_the_items_and_always_the_same(items, pairs):
    def related(item):
        return {Ref("Thing", str(b)) for a, b in pairs if str(a) == item.name}

    blocks = group_items(items, related)

    assert blocks == group_items(items, related)
    assert [block[0] for block in blocks] == sorted((block[0] for block in blocks), key=items.index)
    assert all(list(block) == sorted(block, key=items.index) for block in blocks)


@given(items, pairs, st.randoms())
def test_what_shares_a_block_does_not_depend_on_the_order(items, pairs, random):
    def related(item):
        return [Ref("Thing", str(b)) for a, b in pairs if str(a) == item.name]

    shuffled = random.sample(items, len(items))

    assert set(map(frozenset, group_items(items, related))) == set(map(frozenset, group_items(shuffled, related)))


def test_a_volume_with_its_definition_is_a_block():
    blocks = plan_blocks(BackupSpec(), [a_volume("shop", "db"), a_volume("shop", "files")])

    assert volumes_of(blocks) == [("shop/db",), ("shop/files",)]


def test_volumes_of_one_group_and_one_namespace_share_a_block():
    volumes = [
        grouped("blog", "data", "pg"),
        grouped("shop", "data", "pg"),
        a_volume("shop", "other"),
        grouped("shop", "wal", "pg"),
        grouped("shop", "xlog", "pg"),
    ]

    blocks = plan_blocks(BackupSpec(), volumes)

    assert volumes_of(blocks) == [("blog/data",), ("shop/data", "shop/wal", "shop/xlog"), ("shop/other",)]


def test_ordered_volumes_come_first_in_one_block_one_by_one():
    volumes = [a_volume("a", name) for name in ("one", "two", "three")]
    spec = BackupSpec(ordered_resources={"volumes": "a/three, a/missing ,a/two"})

    blocks = plan_blocks(spec, volumes)

    assert [(block.volumes, block.one_by_one) for block in blocks] == [
        (("a/three", "a/two"), True),
        (("a/one",), False),
    ]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"pods": "shop/web"}, "pods cannot be ordered, only volumes can"),
        ({"volumes": "db"}, "'db' is not a volume: write NAMESPACE/NAME"),
        ({"volumes": "shop/"}, "'shop/' is not a volume"),
    ],
)
def test_an_order_that_cannot_be_kept_is_refused(given, says):
    with pytest.raises(InvalidInput, match=says):
        ordered_volumes(given)


def test_a_block_knows_the_hooks_that_concern_it_by_namespace_and_labels():
    freeze = (Hook(exec=ExecHook(command=("freeze",))),)
    hooks = BackupHooks(
        resources=(
            ResourceHooks(name="everywhere", excluded_namespaces=("blog",), pre=freeze),
            ResourceHooks(name="db", label_selector=LabelSelector(match_labels={"app": "db"}), pre=freeze),
        )
    )
    volumes = [a_volume("blog", "text"), a_volume("shop", "db", app="db"), a_volume("shop", "files")]
    spec = BackupSpec(hooks=hooks, ordered_resources={"volumes": "shop/files,blog/text,shop/db"})

    (block,) = plan_blocks(spec, volumes)

    assert [(call.hook, call.namespace, call.volumes) for call in block.hooks] == [
        (0, "shop", ("files", "db")),
        (1, "shop", ("db",)),
    ]

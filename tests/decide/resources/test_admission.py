"""What may come in."""

import re

import pytest

from tidegate.decide.resources.admission import admit_backup, admit_restore, check_node, check_setting, check_size
from tidegate.errors import InvalidInput, NotFound
from tidegate.model.backups.hooks import BackupHooks, ExecHook, Hook, ResourceHooks
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.transfers.node import Node
from tidegate.testing.resources.builders import a_backup, a_target


def unplaced(**spec):
    return a_backup("b", "ns").with_spec(storage_location="", **spec)


def hooks(**changes):
    freeze = Hook(exec=ExecHook(command=("freeze",)))
    return BackupHooks(resources=(ResourceHooks(name="db", pre=(freeze,)).replace(**changes),))


@pytest.mark.parametrize(
    ("targets", "chosen"),
    [
        ([a_target("only")], "only"),
        ([a_target("one"), a_target("two", default=True)], "two"),
    ],
)
def test_a_backup_without_a_target_gets_the_default_or_the_only_one(targets, chosen):
    assert admit_backup(unplaced(), targets).spec.storage_location == chosen


@pytest.mark.parametrize("targets", [[], [a_target("one"), a_target("two")]])
def test_without_a_clear_choice_the_person_is_asked(targets):
    with pytest.raises(InvalidInput, match="say which one"):
        admit_backup(unplaced(), targets)


def test_an_unknown_target_is_told_with_the_known_ones():
    with pytest.raises(NotFound) as caught:
        admit_backup(a_backup("b"), [a_target("other")])

    assert caught.value.hint == "there are: other"


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"included_namespaces": ("ok", "Bad")}, "spec.includedNamespaces[1]"),
        ({"excluded_namespaces": ("a**",)}, "spec.excludedNamespaces[0]"),
        ({"hooks": hooks(included_namespaces=("a**",))}, "spec.hooks.resources[0].includedNamespaces[0]"),
        ({"hooks": hooks(pre=())}, "spec.hooks.resources[0]"),
        ({"ordered_resources": {"pods": "shop/web"}}, "spec.orderedResources"),
        ({"ordered_resources": {"volumes": "shop/db,files"}}, "spec.orderedResources"),
        ({"included_resources": ("pods",)}, "spec.includedResources"),
        ({"snapshot_move_data": False}, "spec.snapshotMoveData"),
    ],
)
def test_a_wrong_field_is_refused_by_its_path(spec, field):
    with pytest.raises(InvalidInput) as caught:
        admit_backup(unplaced(**spec), [a_target("only")])

    assert caught.value.field == field


def test_hooks_and_an_order_are_let_in():
    wishes = {"hooks": hooks(), "ordered_resources": {"volumes": "shop/db, shop/files"}}

    assert admit_backup(unplaced(**wishes), [a_target("only")]).spec.hooks == hooks()


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"namespace_mapping": {"a": "Not a name"}}, "'Not a name' is not a namespace name"),
        ({"included_namespaces": ("**",)}, "means nothing here"),
        ({"included_paths": ("x",), "existing_data": "overwrite"}, "the rest of it would be lost"),
        ({"backup_name": None, "backup_url": "u", "included_volumes": ("a/b",)}, "leave spec.includedVolumes out"),
    ],
)
def test_a_restore_that_cannot_be_meant_is_refused(spec, sentence):
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        admit_restore(RestoreSpec.model_validate({"backup_name": "b", **spec}))


def a_setting(name, value):
    return Setting(metadata=Metadata(name=name), spec=SettingSpec(value=value))


@pytest.mark.parametrize(("name", "value"), [("concurrent-backups", "3"), ("load-concurrency", '{"globalConfig": 2}')])
def test_a_good_setting_passes(name, value):
    check_setting(a_setting(name, value))


@pytest.mark.parametrize(
    ("name", "value", "error", "says"),
    [
        ("concurrent-backups", "0", InvalidInput, "least is 1"),
        ("concurrent-backups", "many", InvalidInput, "whole number"),
        ("concurrent-backup", "1", NotFound, "no setting"),
    ],
)
def test_a_bad_setting_is_refused_with_a_sentence(name, value, error, says):
    with pytest.raises(error, match=says):
        check_setting(a_setting(name, value))


def a_node(name):
    return Node(metadata=Metadata(name=name))


@pytest.mark.parametrize("name", [None, "a"])
def test_a_volume_may_be_on_any_node_or_on_one_that_exists(name):
    check_node(name, [a_node("b"), a_node("a")])


@pytest.mark.parametrize(("nodes", "hint"), [(["b", "a"], "there are: a, b"), ([], "leave it out")])
def test_a_node_that_nobody_knows_is_refused_with_those_that_exist(nodes, hint):
    with pytest.raises(NotFound, match="there is no node x") as refused:
        check_node("x", [a_node(name) for name in nodes])

    assert refused.value.hint == hint


def naming(count):
    return a_backup("b").with_spec(included_volumes=tuple(f"shop/volume-{number:05}" for number in range(count)))


def test_a_request_is_refused_once_it_is_too_large_for_a_resource():
    check_size(naming(5_000))
    with pytest.raises(InvalidInput, match=r"the Backup has \d+ bytes; it may have 131072"):
        check_size(naming(10_000))

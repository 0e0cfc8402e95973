"""Where each volume of a restore goes."""

import pytest

from tidegate.decide.restores.places import placements, volumes_written
from tidegate.decide.restores.source import DEFINITION_LABEL, source_of
from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.restores.restore_plan import StoredBackup
from tidegate.model.transfers.transfer import TransferSpec
from tidegate.model.volumes.volume import Volume, VolumeSpec
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.testing.resources.builders import a_volume

TREE, IMAGE, DEVICE = VolumeKind.DIRECTORY, VolumeKind.IMAGE, VolumeKind.DEVICE


def source(name, kind=TREE, path="/old"):
    namespace, _, volume = name.rpartition("/")
    return TransferSpec(
        volume_namespace=namespace,
        volume_name=volume,
        volume_kind=kind,
        path=path,
        target="store",
        store_volume="v",
        store_backup=f"backup-{volume}",
    )


def defined(*volumes):
    return {(volume.namespace, volume.name): volume for volume in volumes}


def device(namespace, name, path):
    return a_volume(namespace, name).replace(spec=VolumeSpec(device=path))


def test_a_volume_that_was_deleted_from_the_store_has_no_place_and_takes_none():
    sources, lost = [source("a/y"), source("b/x", path="/x")], [source("a/db", path="/x")]

    found = placements(RestoreSpec(backup_name="b"), sources, {}, lost=lost)

    assert [(one.came_from, one.address, one.problem[:30]) for one in found] == [
        ("a/db", "", "its volume backup was deleted "),
        ("a/y", "/old", ""),
        ("b/x", "/x", ""),
    ]


@pytest.mark.parametrize(
    ("spec", "found", "volumes", "kind", "path"),
    [
        ({}, source("a/db"), [a_volume("a", "db", "/now")], TREE, "/now"),
        ({}, source("a/db"), [], TREE, "/old"),
        ({"destination": "/back/"}, source("a/db"), [a_volume("a", "db", "/now")], TREE, "/back/a/db"),
        ({"destination": "/back"}, source("a/db", DEVICE), [], IMAGE, "/back/a/db"),
        ({"destination": "/back"}, source("pvc-1", IMAGE, ""), [], IMAGE, "/back/pvc-1"),
        ({"namespace_mapping": {"a": "b"}}, source("a/db"), [a_volume("b", "db", "/copy")], TREE, "/copy"),
        ({"namespace_mapping": {"a": "b"}, "destination": "/x"}, source("a/db"), [], TREE, "/x/b/db"),
        ({}, source("a/db", IMAGE), [device("a", "db", "/dev/sdz")], DEVICE, "/dev/sdz"),
    ],
)
def test_a_volume_goes_where_asked_else_where_it_is_today_else_where_it_was(spec, found, volumes, kind, path):
    (placed,) = placements(RestoreSpec(backup_name="b", **spec), [found], defined(*volumes))

    assert (placed.kind, placed.address, placed.problem) == (kind, path, "")


@pytest.mark.parametrize(
    ("spec", "found", "volumes", "problem"),
    [
        ({"namespace_mapping": {"a": "b"}}, source("a/db"), [], "there is no volume b/db"),
        ({}, source("pvc-1", IMAGE, ""), [], "nobody knows where pvc-1 belongs"),
        ({}, source("a/db", IMAGE), [a_volume("a", "db")], "is of kind directory now, the backup of kind image"),
    ],
)
def test_a_volume_that_fits_nowhere_says_what_to_do(spec, found, volumes, problem):
    (placed,) = placements(RestoreSpec(backup_name="b", **spec), [found], defined(*volumes))

    assert problem in placed.problem
    assert "--to" in placed.problem
    assert volumes_written([placed], defined(*volumes)) == ()


def test_two_volumes_never_go_to_one_place_nor_one_into_the_other():
    sources = [source("a/db", path="/x"), source("b/db", path="/x"), source("c/db", path="/x/y")]

    problems = [one.problem for one in placements(RestoreSpec(backup_name="b"), sources, {})]

    assert problems == [
        "",
        "b/db and a/db would both go to /x",
        "c/db and a/db would both go to /x/y",
    ]


def test_the_order_that_was_asked_for_comes_first_and_the_others_by_name():
    spec = RestoreSpec(backup_name="b", destination="/x", volume_order=("b/z", "a/y"))
    sources = [source(name) for name in ("a/x", "a/y", "b/w", "b/z")]

    assert [one.came_from for one in placements(spec, sources, {})] == ["b/z", "a/y", "a/x", "b/w"]


@pytest.mark.parametrize(
    ("destination", "written"),
    [
        (None, ("a/db",)),
        ("/elsewhere", ()),
        ("/data/a", ()),
        ("/data", ("a/db",)),
        ("/around", ("c/other",)),
        ("/data/a/db/deep", ("a/db",)),
        ("/data/aa", ()),
    ],
)
def test_a_restore_writes_to_the_volumes_that_it_brings_back_or_whose_files_it_touches(destination, written):
    volumes = defined(a_volume("a", "db", "/data/a/db"), a_volume("c", "other", "/around/a/db/deep"))
    spec = RestoreSpec(backup_name="b", destination=destination)

    assert volumes_written(placements(spec, [source("a/db")], volumes), volumes) == written


def test_claims_are_in_each_others_way_only_if_they_are_the_same():
    claims = [("a/db", "shop/db"), ("b/db", "shop/db"), ("c/db", "shop/db2")]
    sources = [source(name, VolumeKind.CLAIM, claim) for name, claim in claims] + [source("d/db", path="/shop")]

    problems = [one.problem for one in placements(RestoreSpec(backup_name="b"), sources, {})]

    assert problems == ["", "b/db and a/db would both go to shop/db", "", ""]


def stored(definition=None, **labels):
    found = {f"tidegate.dev/{key}": value for key, value in labels.items()}
    if definition is not None:
        found[DEFINITION_LABEL] = definition
    return StoredBackup(labels=found, is_tree=True, size=7)


def read(backup):
    found = source_of(backup, target="store", store_volume="pvc-1", store_backup="backup-1")
    return found.volume_namespace, found.volume_name, found.volume_kind, found.path


GOOD = a_volume("shop", "db", "/srv/db").model_dump_json(exclude_none=True)


@pytest.mark.parametrize(
    ("backup", "meaning"),
    [
        (stored(GOOD), ("shop", "db", TREE, "/srv/db")),
        (stored(namespace="shop", volume="db"), ("shop", "db", TREE, "")),
        (stored(), ("", "pvc-1", TREE, "")),
        (stored().replace(is_tree=False), ("", "pvc-1", IMAGE, "")),
        (stored(GOOD).replace(is_tree=False), ("", "pvc-1", IMAGE, "")),
        (stored(namespace="../..", volume="etc"), ("", "pvc-1", TREE, "")),
        (stored("{not json"), ("", "pvc-1", TREE, "")),
        (stored(GOOD.replace("/srv/db", "srv/db")), ("", "pvc-1", TREE, "")),
        (stored(GOOD.replace('"shop"', '"../shop"')), ("", "pvc-1", TREE, "")),
    ],
)
def test_what_a_store_says_of_a_volume_is_believed_only_if_it_can_be_true(backup, meaning):
    assert read(backup) == meaning


def test_a_definition_that_an_upload_wrote_is_one_that_can_be_read():
    assert Volume.model_validate_json(GOOD).spec.directory == "/srv/db"

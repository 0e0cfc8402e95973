"""A verification reads what a restore reads of a tree: a backup that cannot be decoded is damaged."""

import hashlib
import json
import os
from dataclasses import replace

import pytest

from tidegate.datapath.inspection.verify import Verification, problems_of
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import TidegateError
from tidegate.format.cfgs.paths import block_key
from tidegate.format.trees.packed_tree import TreeMark
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.testing.stores.faulty_objects import FaultyObjects

VOLUME = "shop.db"


@pytest.fixture
def stored(bench, store, tmp_path):
    """A volume with two backups of one tree: a and b are one file, c is another."""
    tree = tmp_path / "tree"
    (tree / "d").mkdir(parents=True)
    (tree / "a").write_bytes(b"a" * 1000)
    os.link(tree / "a", tree / "b")
    (tree / "d" / "c").write_bytes(b"c" * 1000)
    for name in ("backup-1", "backup-2"):
        bench.upload(tree, name, VolumeKind.DIRECTORY)
    return StoredVolume(store, VOLUME)


@pytest.fixture
def look(stored, clock):
    def verify(percent=0, only=""):
        return Verification(percent=percent, now=clock.now()).volume(stored, only=only)

    return verify


def rewrite(stored, backup, change):
    """Let the manifest of this backup have other lines, with everything around it right."""
    cfg = stored.backup_cfg(backup)
    mark = TreeMark.of(cfg.parameters, image_size=cfg.true_size)
    [*before, last] = cfg.blocks
    block = stored.read_block(last, cfg)
    lines = [json.loads(line) for line in block[: mark.manifest_length].splitlines() if line]
    manifest = b"".join(json.dumps(line).encode() + b"\n" for line in change(lines))
    body = manifest.ljust(cfg.block_size, b"\0")
    [name] = stored.block_names([body])
    stored.put_block(name, stored.block_body(name, body, cfg))
    told = replace(
        mark, manifest_length=len(manifest), manifest_checksum=hashlib.sha512(manifest).hexdigest()[:64]
    ).parameters()
    blocks = (
        *before,
        replace(last, checksum=name) if hasattr(last, "__dataclass_fields__") else last._replace(checksum=name),
    )
    stored.save_backup_cfg(replace(cfg, blocks=blocks, parameters={**cfg.parameters, **told}))


def changed(at, **fields):
    return lambda lines: [line | (fields if line["path"] == at else {}) for line in lines]


def without(path):
    return lambda lines: [line for line in lines if line["path"] != path]


CHANGES = {
    "a time beyond the kernel's": (changed("a", mtime_ns=10**40), "has a wrong line"),
    "no such type": (changed("a", type="device"), "has a wrong line"),
    "a path that leads out": (changed("a", path="../a"), "leads out of the tree"),
    "no root": (lambda lines: lines[1:], "does not begin with its root"),
    "nothing": (lambda _: [], "is empty"),
    "a path twice": (lambda lines: [*lines, lines[-1]], "'d/c' twice"),
    "a path twice, far apart": (lambda lines: [*lines, lines[1]], "'a' twice"),
    "a link to nothing": (without("a"), "links 'b' to a file that does not exist"),
    "a link to a directory": (changed("b", target="d"), "links 'b' to a file that does not exist"),
}


def test_whole_trees_are_whole_and_what_they_share_is_read_once(look, stored, store, clock):
    counting = FaultyObjects(store)

    verdict = Verification(percent=0, now=clock.now()).volume(StoredVolume(counting, VOLUME))

    [*_, manifest] = stored.backup_cfg("backup-1").blocks
    assert (verdict.whole, list(problems_of(verdict))) == (True, [])
    assert counting.calls.count(("get", block_key(VOLUME, manifest.checksum))) == 1


@pytest.mark.parametrize("name", CHANGES)
def test_a_backup_that_cannot_be_decoded_is_damaged_and_the_others_are_whole(look, stored, bench, tmp_path, name):
    change, problem = CHANGES[name]
    rewrite(stored, "backup-2", change)

    verdict = look()

    assert {one.backup: one.whole for one in verdict.backups} == {"backup-1": True, "backup-2": False}
    [sentence] = problems_of(verdict)
    assert sentence.startswith("backup backup-2 of volume shop.db: it cannot be restored: the tree's manifest")
    assert problem in sentence
    with pytest.raises(TidegateError):
        bench.download(tmp_path / "back", "backup-2", VolumeKind.DIRECTORY)


def test_lines_in_another_order_are_no_damage(look, stored, bench, tmp_path):
    rewrite(stored, "backup-2", lambda lines: [lines[0], *reversed(without("d/c")(lines[1:])), lines[-1]])

    assert look().whole
    bench.download(tmp_path / "back", "backup-2", VolumeKind.DIRECTORY)


def test_a_manifest_that_does_not_match_its_checksum_is_damage(look, stored):
    cfg = stored.backup_cfg("backup-2")
    stored.save_backup_cfg(replace(cfg, parameters={**cfg.parameters, "tidegate.dev/manifest-checksum": "0" * 64}))

    assert [one.problems for one in look().backups] == [
        [],
        ["it cannot be restored: the tree's manifest does not match its checksum"],
    ]


def test_a_tree_that_does_not_say_that_it_is_one_is_damage(look, stored):
    cfg = stored.backup_cfg("backup-2")
    parameters = {name: value for name, value in cfg.parameters.items() if name != "tidegate.dev/content"}
    stored.save_backup_cfg(replace(cfg, parameters=parameters))

    assert {one.backup: one.whole for one in look().backups} == {"backup-1": True, "backup-2": False}


def test_a_damaged_block_of_a_manifest_is_found_without_reading_data(look, stored, store):
    [*_, manifest] = stored.backup_cfg("backup-1").blocks
    store.put(block_key(VOLUME, manifest.checksum), b"junk")

    assert [one.whole for one in look().backups] == [False, False]


def test_a_missing_block_of_a_manifest_is_told_once(look, stored, store):
    [*_, manifest] = stored.backup_cfg("backup-1").blocks
    store.delete(block_key(VOLUME, manifest.checksum))

    assert [len(one.problems) for one in look().backups] == [1, 1]

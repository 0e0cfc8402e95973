"""Blocks that an upload names without reading must be in the store: else the backup is green and cannot be restored.

Longhorn names them unseen (longhorn#9784).
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.format.cfgs.paths import block_key
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench

TREE = VolumeKind.DIRECTORY
MIB = 1 << 20


@pytest.fixture
def bench():
    clock = ManualClock(datetime.now(UTC) + timedelta(hours=1))  # noqa: TID251  the files have the time of the machine
    return MoverBench(MemoryObjects(clock), clock=clock)


@pytest.fixture
def tree(tmp_path):
    """Large enough for blocks that hold nothing but files that stay as they are."""
    tree = tmp_path / "tree"
    tree.mkdir()
    random = Random(1)
    for number in range(4):
        (tree / f"large-{number}").write_bytes(random.randbytes(5 * MIB))
    (tree / "small").write_text("one")
    return tree


def contents(tree: Path):
    return {file.name: file.read_bytes() for file in tree.iterdir()}


def lose(bench, checksum, *, leaving=None):
    key = block_key(bench.volume, checksum)
    if leaving is None:
        bench.objects.delete(key)
    else:
        bench.objects.put(key, leaving)


def named_by(bench, backup):
    return {ref.checksum for ref in StoredVolume(bench.objects, bench.volume).backup_cfg(backup).blocks}


def test_a_tree_of_which_little_has_changed_names_blocks_of_its_last_backup_unread(bench, tree):
    """What the test below is about does happen."""
    first = bench.upload(tree, "backup-1", TREE)
    (tree / "small").write_text("two")
    second = bench.upload(tree, "backup-2", TREE)

    assert second.new_bytes < first.new_bytes // 4
    assert len(named_by(bench, "backup-1") & named_by(bench, "backup-2")) > 5


@pytest.mark.parametrize("leaving", [None, b""])
def test_a_block_that_the_store_lost_is_never_named_again_unread(bench, tree, tmp_path, leaving):
    bench.upload(tree, "backup-1", TREE)
    (tree / "small").write_text("two")
    bench.upload(tree, "backup-2", TREE)
    reused = sorted(named_by(bench, "backup-1") & named_by(bench, "backup-2"))

    for number, checksum in enumerate((reused[0], reused[-1]), start=3):
        lose(bench, checksum, leaving=leaving)
        (tree / "small").write_text(str(number))
        bench.upload(tree, f"backup-{number}", TREE)
        back = tmp_path / f"back-{number}"
        bench.download(back, f"backup-{number}", TREE)
        assert contents(back) == contents(tree)

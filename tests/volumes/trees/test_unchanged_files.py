"""Files that did not change are not opened again, and keep their places; whatever did change is noticed."""

import os
import random
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.datapath.inspection.verify import Verification
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import InvalidInput
from tidegate.model.transfers.mover_job import BackupMode
from tidegate.model.volumes.volume import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench

MIB = 1024 * 1024
KEY = "00" * 32
LATER = datetime(2100, 1, 1, tzinfo=UTC)  # than any file of a test, so that its times can be believed


class Opened:
    """Which files this process opens, as Python's own audit events tell; a hook cannot be taken back, only be deaf."""

    listening = None

    @classmethod
    def hook(cls, event, arguments):
        if cls.listening is not None and event == "open" and isinstance(arguments[0], str):
            cls.listening.names.append(arguments[0])


sys.addaudithook(Opened.hook)


@pytest.fixture
def opened():
    """Call it to begin listening."""

    def listen():
        Opened.listening = Opened()
        Opened.listening.names = []
        return Opened.listening

    yield listen
    Opened.listening = None


@pytest.fixture
def bench():
    return MoverBench(MemoryObjects(ManualClock()), clock=ManualClock(LATER))


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree"
    (path / "deep" / "er").mkdir(parents=True)
    (path / "deep-2").mkdir()
    for name in ("a", "deep/b", "deep/er/c", "deep-2/d", "z"):
        (path / name).write_bytes(name.encode() * 1000)
    (path / "large").write_bytes(random.Random(1).randbytes(5 * MIB))
    return path


def back_up(bench, tree, number, **asked):
    return bench.upload(tree, f"backup-{number}", VolumeKind.DIRECTORY, **asked)


def contents(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def restored(bench, tmp_path, number):
    to = tmp_path / f"back-{number}-{random.random()}"
    bench.download(to, f"backup-{number}", VolumeKind.DIRECTORY)
    return to


def test_nothing_is_opened_or_sent_when_nothing_changed(bench, tree, tmp_path, opened):
    back_up(bench, tree, 1)
    heard = opened()

    result = back_up(bench, tree, 2)

    assert result.new_bytes == 0
    assert not {"a", "b", "c", "d", "z", "large"} & set(heard.names)
    assert contents(restored(bench, tmp_path, 2)) == contents(tree)


CHANGES = {
    "content": lambda tree: (tree / "deep/b").write_bytes(b"changed"),
    "content of the same size and time": lambda tree: _rewrite(tree / "deep/b"),
    "another file of the same name": lambda tree: _swap(tree / "deep/b"),
    "mode": lambda tree: (tree / "deep/b").chmod(0o600),
    "attribute": lambda tree: os.setxattr(tree / "deep/b", "user.note", b"hello"),
    "new": lambda tree: (tree / "deep/er/new").write_bytes(b"new"),
    "gone": lambda tree: (tree / "deep/b").unlink(),
    "renamed": lambda tree: (tree / "a").rename(tree / "deep/renamed"),
    "directory": lambda tree: (tree / "deep").rename(tree / "zz"),
    "linked": lambda tree: os.link(tree / "a", tree / "deep/link"),
    "large": lambda tree: _patch(tree / "large", 3 * MIB),
    "grown": lambda tree: _append(tree / "large"),
}


def _rewrite(path):
    found = path.stat()
    path.write_bytes(path.read_bytes()[::-1].replace(b"d", b"D"))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _swap(path):
    path.with_name("tmp").write_bytes(b"X" * path.stat().st_size)
    path.with_name("tmp").rename(path)


def _patch(path, at):
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"patched")


def _append(path):
    with path.open("ab") as file:
        file.write(b"more")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_noticed_and_only_what_changed_is_opened(bench, tree, tmp_path, opened, change):
    before = contents(tree)
    back_up(bench, tree, 1)
    change(tree)
    heard = opened()

    back_up(bench, tree, 2)

    assert not {"d", "z"} & set(heard.names)
    assert contents(restored(bench, tmp_path, 2)) == contents(tree)
    assert contents(restored(bench, tmp_path, 1)) == before
    found = {path: (tree / path).stat() for path in contents(tree)}
    again = restored(bench, tmp_path, 2)
    assert {path: ((again / path).stat().st_mode, (again / path).stat().st_mtime_ns) for path in found} == {
        path: (facts.st_mode, facts.st_mtime_ns) for path, facts in found.items()
    }


def test_a_file_written_to_just_before_its_backup_is_read_again_next_time(tree, opened):
    # Its next change may come within the same tick of the file system's clock, and leave every time as it is.
    bench = MoverBench(
        MemoryObjects(ManualClock()), clock=ManualClock(datetime.fromtimestamp((tree / "a").stat().st_ctime, UTC))
    )
    back_up(bench, tree, 1)
    heard = opened()

    assert back_up(bench, tree, 2).new_bytes == 0
    assert {"a", "b", "c", "d", "z", "large"} <= set(heard.names)


def test_a_full_backup_reads_everything(bench, tree, opened):
    back_up(bench, tree, 1)
    heard = opened()

    back_up(bench, tree, 2, mode=BackupMode.FULL)

    assert {"a", "b", "c", "d", "z", "large"} <= set(heard.names)


def test_a_block_that_the_store_lost_is_sent_again(bench, tree, tmp_path):
    back_up(bench, tree, 1)
    for info in list(bench.objects.list_all("backupstore")):
        if info.key.endswith(".blk"):
            bench.objects.delete(info.key)

    back_up(bench, tree, 2)

    assert contents(restored(bench, tmp_path, 2)) == contents(tree)


def test_a_damaged_manifest_of_the_last_backup_lets_everything_be_read_again(bench, tree, opened):
    back_up(bench, tree, 1)
    (tree / "a").write_bytes(b"changed")
    for info in list(bench.objects.list_all("backupstore")):
        if info.key.endswith(".blk"):
            bench.objects.put(info.key, b"damaged")
    heard = opened()

    back_up(bench, tree, 2)

    assert {"a", "b", "c", "d", "z", "large"} <= set(heard.names)


def test_a_volume_encrypted_from_now_on_is_read_whole(bench, tree, tmp_path, opened):
    back_up(bench, tree, 1)
    sealed = MoverBench(bench.objects, clock=bench.clock, key=KEY)
    heard = opened()

    back_up(sealed, tree, 2)
    assert {"a", "b", "c", "d", "z", "large"} <= set(heard.names)
    heard.names.clear()
    back_up(sealed, tree, 3)

    assert not {"a", "b", "c", "d", "z", "large"} & set(heard.names)
    assert contents(restored(sealed, tmp_path, 3)) == contents(tree)


def test_what_is_excluded_is_not_even_looked_at(bench, tree, tmp_path, opened):
    heard = opened()

    back_up(bench, tree, 1, excludes=("deep/er", "*.tmp", "z"))

    assert not {"er", "c", "z"} & set(heard.names)
    assert set(contents(restored(bench, tmp_path, 1))) == {"a", "deep/b", "deep-2/d", "large"}


def test_a_file_excluded_once_and_wanted_again_comes_back(bench, tree, tmp_path):
    back_up(bench, tree, 1)
    back_up(bench, tree, 2, excludes=("z",))
    back_up(bench, tree, 3)

    assert contents(restored(bench, tmp_path, 3)) == contents(tree)


def test_of_an_image_nothing_can_be_excluded(bench, tree):
    with pytest.raises(InvalidInput, match="only of a file tree"):
        bench.upload(tree / "large", excludes=("a",))


def test_many_small_changes_do_not_pile_packs_up(bench, tree, tmp_path):
    for number in range(40):
        (tree / "a").write_bytes(b"%d" % number * 100)
        (tree / f"new-{number}").write_bytes(b"%d" % number * 300)
        back_up(bench, tree, number)

    cfg = StoredVolume(bench.objects, bench.volume).backup_cfg("backup-39")
    assert len(cfg.blocks) <= 12
    assert cfg.true_size <= 64 * MIB
    assert contents(restored(bench, tmp_path, 39)) == contents(tree)


FILES = st.sampled_from([f"{directory}f{number}" for directory in ("", "d/", "d/e/") for number in range(6)])
SIZES = st.sampled_from([0, 1, 100_000, 700_000, 1_900_000, 2 * MIB, 5 * MIB])
STEPS = st.lists(st.lists(st.tuples(FILES, SIZES | st.none()), max_size=6), min_size=2, max_size=7)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS, st.integers(0, 99))
def test_a_chain_of_backups_restores_every_one_exactly(tmp_path_factory, steps, seed):
    chance = random.Random(seed)
    place = tmp_path_factory.mktemp("chain")
    tree = place / "tree"
    (tree / "d" / "e").mkdir(parents=True)
    bench = MoverBench(MemoryObjects(ManualClock()), clock=ManualClock(LATER))
    pictures = []
    for number, changes in enumerate(steps):
        for name, size in changes:
            if size is None:
                (tree / name).unlink(missing_ok=True)
            else:
                (tree / name).write_bytes(chance.randbytes(min(size, 1000)).ljust(size, b"."))
        back_up(bench, tree, number)
        pictures.append(contents(tree))
    for number, picture in enumerate(pictures):
        assert contents(restored(bench, place, number)) == picture
    assert Verification(100, LATER).volume(StoredVolume(bench.objects, bench.volume)).whole

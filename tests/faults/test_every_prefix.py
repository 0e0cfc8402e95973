"""A writer may die after any of its writes: whatever prefix of them a directory holds, no promise is broken."""

import os
import shutil
import threading
from pathlib import Path

import pytest

from tidegate.datapath.inspection.verify import Verification
from tidegate.datapath.leftovers import BEGUN_DEAD_AFTER
from tidegate.datapath.locks import VolumeLock
from tidegate.datapath.maintenance.gc import collect_garbage
from tidegate.datapath.progress import Progress
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.lock_file import LockType
from tidegate.format.cfgs.paths import block_key
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.directory import DirectoryObjects
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.sample_data import fill_tree, picture
from tidegate.testing.stores.recorded_writes import Change, Loss, RecordedDirectory, directories_after, grow_old

VOLUME = "shop.db"
LONG_AGO = 2 * BEGUN_DEAD_AFTER.total_seconds()


class Scene:
    """The volumes that are backed up, and what has been promised about which store."""

    def __init__(self, home, blocks_of):
        self.home = home
        self.sources = {name: self._image(name, blocks_of(letters)) for name, letters in IMAGES.items()}
        self.sources["tree"] = fill_tree(home / "tree")
        self.count = 0

    def upload(self, objects, name):
        kind = VolumeKind.DIRECTORY if name == "tree" else VolumeKind.IMAGE
        MoverBench(objects).upload(self.sources[name], name, kind)

    def assert_restores(self, objects, name):
        self.count += 1
        source, back = self.sources[name], self.home / f"back-{self.count}"
        if name == "tree":
            MoverBench(objects).download(back, name, VolumeKind.DIRECTORY)
            assert picture(back) == picture(source)
            shutil.rmtree(back)
        else:
            MoverBench(objects).download(back, name)
            assert back.read_bytes() == source.read_bytes(), name
            back.unlink()

    def _image(self, name, blocks):
        path = self.home / name
        with path.open("wb") as file:
            file.truncate(len(blocks) * BLOCK)
            for offset, block in blocks.items():
                os.pwrite(file.fileno(), block, offset)
        return path


IMAGES = {"backup-1": "AB", "backup-2": "BC", "backup-3": "ADE", "later": "AF"}


@pytest.fixture
def scene(tmp_path, blocks_of):
    return Scene(tmp_path, blocks_of)


def collect(objects):
    bench = MoverBench(objects)
    with VolumeLock(objects, VOLUME, LockType.DELETION, shop=bench.shop, cancelled=threading.Event()) as lock:
        progress = Progress(lambda _report: None, bench.clock)
        return collect_garbage(StoredVolume(objects, VOLUME), progress=progress, lock=lock)


def leave_garbage(objects):
    """A block that no backup names, and half of another one."""
    key = block_key(VOLUME, "ab" * 32)
    objects.put(key, b"nobody's block")
    half = Path(objects._root) / f"{key}.tmp.{'1' * 16}"  # a writer that died there left it
    half.write_bytes(b"half")


# Each: what is there before, the work, what it makes and what it takes away.
WORK = {
    "the first backup of a volume": ([], lambda scene, objects: scene.upload(objects, "backup-1"), "backup-1", None),
    "a backup of an image": (
        ["backup-1", "backup-2"],
        lambda scene, objects: scene.upload(objects, "backup-3"),
        "backup-3",
        None,
    ),
    "a backup of a tree": (["backup-1"], lambda scene, objects: scene.upload(objects, "tree"), "tree", None),
    "the deletion of a backup": (
        ["backup-1", "backup-2", "tree"],
        lambda _scene, objects: MoverBench(objects).remove("backup-1"),
        None,
        "backup-1",
    ),
    "the deletion of the last backup": (
        ["backup-1"],
        lambda _scene, objects: MoverBench(objects).remove("backup-1"),
        None,
        "backup-1",
    ),
    "a collection of garbage": (["backup-1", "tree"], lambda _scene, objects: collect(objects), None, None),
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("loss", Loss)
def test_whatever_prefix_of_its_writes_a_writer_leaves_nothing_promised_is_lost_and_nothing_stays_over(
    scene, tmp_path, work, loss
):
    there, carry_out, makes, takes = WORK[work]
    (tmp_path / "store").mkdir()
    store = RecordedDirectory(str(tmp_path / "store"))
    for name in there:
        scene.upload(store, name)
    if work == "a collection of garbage":
        leave_garbage(store)
    grow_old(tmp_path / "store", seconds=LONG_AGO)
    before = shutil.copytree(tmp_path / "store", tmp_path / "before")
    store.steps.clear()
    carry_out(scene, store)
    steps = list(store.steps)
    room = tmp_path / "room"
    room.mkdir()

    seen = 0
    for done, directory in directories_after(steps, before=before, room=room, loss=loss):
        seen += 1
        last = f"{len(done)} of {len(steps)}: {done[-1] if done else 'nothing'}"
        grow_old(directory, seconds=LONG_AGO)
        promised = set(there) - {takes} | ({makes} if makes and len(done) == len(steps) else set())
        assert_promises_kept(scene, directory, promised, last)
        assert_life_goes_on(scene, directory, work, promised, last)

    # What the store is left with has been looked at, and not an empty list of steps.
    assert seen == len(steps) + 1 if loss is Loss.KILL else seen > 0 or not any(step.lazily for step in steps)
    assert any(step.change in {Change.PUT, Change.DELETE} for step in steps)


def assert_promises_kept(scene, directory, promised, last):
    """Every backup that is promised restores; every backup that looks finished is whole."""
    objects = DirectoryObjects(str(directory))
    volume = StoredVolume(objects, VOLUME)
    if not volume.is_there():
        assert not promised, last
        return
    verdict = Verification(percent=100, now=MoverBench(objects).clock.now()).volume(volume)
    finished = {backup.backup for backup in verdict.backups if not backup.in_progress}
    assert promised <= finished, last
    assert [backup.problems for backup in verdict.backups if backup.problems] == [], last
    assert verdict.problems == [], last
    for name in finished:
        scene.assert_restores(objects, name)


def assert_life_goes_on(scene, directory, work, promised, last):
    """The work is done again, another backup is made, and nothing is left of the one who died."""
    _, carry_out, makes, takes = WORK[work]
    objects = DirectoryObjects(str(directory))
    carry_out(scene, objects)
    scene.upload(objects, "later")
    expected = promised - {takes} | {"later"} | ({makes} if makes else set())
    collect(objects)
    volume = StoredVolume(objects, VOLUME)
    assert set(volume.backup_names()) == expected, last
    for name in expected:
        scene.assert_restores(objects, name)
    needed = {ref.checksum for name in expected for ref in volume.backup_cfg(name).blocks}
    assert {name for name, _ in volume.block_sizes()} == needed, last
    left_over = [file.name for file in directory.rglob("*") if ".tmp." in file.name or file.suffix == ".lck"]
    assert left_over == [], last

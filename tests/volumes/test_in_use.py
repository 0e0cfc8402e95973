"""Restoring onto what somebody uses: refused with a name, unless it is forced."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.disk.in_use import mounts_below, user_of_device, user_of_file, users_of
from tidegate.errors import DestinationUnusable
from tidegate.model.restores.restore import ExistingData
from tidegate.model.transfers.mover_job import DownloadJob, ProgressReport
from tidegate.model.volumes.volume import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import TARGET, MoverBench
from tidegate.testing.sample_data import fill_tree, picture


@contextlib.contextmanager
def a_process_with(path):
    """A process that has the file open and does nothing with it; yields its id."""
    program = "import sys; file = open(sys.argv[1], 'r+b'); print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        yield process.pid
        process.stdin.close()


@pytest.fixture
def bench(tmp_path):
    bench = MoverBench(MemoryObjects(ManualClock()))
    (tmp_path / "new").write_bytes(b"new")
    bench.upload(tmp_path / "new")
    return bench


def restored(bench, path, kind=VolumeKind.IMAGE, *, force):
    return bench.do(
        DownloadJob(
            target=TARGET,
            store_volume=bench.volume,
            store_backup="backup-1",
            volume_kind=kind,
            path=str(path),
            existing_data=ExistingData.OVERWRITE,
            force=force,
        )
    )


def test_an_image_that_a_process_has_open_is_replaced_only_by_force(bench, tmp_path):
    (tmp_path / "disk").write_bytes(b"running")
    with a_process_with(tmp_path / "disk") as process:
        with pytest.raises(DestinationUnusable, match=rf"disk is in use by python.* \(process {process}\)"):
            restored(bench, tmp_path / "disk", force=False)
        assert (tmp_path / "disk").read_bytes() == b"running"

        restored(bench, tmp_path / "disk", force=True)

    assert (tmp_path / "disk").read_bytes() == b"new"


def test_an_image_that_somebody_opens_during_the_restore_is_not_replaced(bench, tmp_path):
    (tmp_path / "disk").write_bytes(b"running")
    with contextlib.ExitStack() as stack:

        class Meanwhile(MoverBench):
            def hear(self, report):
                if isinstance(report, ProgressReport) and not self.reports:
                    stack.enter_context(a_process_with(tmp_path / "disk"))
                super().hear(report)

        with pytest.raises(DestinationUnusable, match="disk is in use by python"):
            restored(Meanwhile(bench.objects, clock=bench.clock), tmp_path / "disk", force=False)

    assert (tmp_path / "disk").read_bytes() == b"running"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "new"]


def test_who_cannot_be_seen_is_noticed_by_what_the_system_denies(tmp_path):
    (tmp_path / "disk").write_bytes(b"running")
    assert user_of_file(str(tmp_path / "disk")) is None

    # Our own process is not among those that are looked at: it stands for one that we may not look at.
    with (tmp_path / "disk").open("rb"):
        assert user_of_file(str(tmp_path / "disk")) == "somebody who cannot be seen from here"


def test_a_tree_in_which_a_process_has_a_file_open_is_replaced_only_by_force(tmp_path):
    fill_tree(tmp_path / "tree")
    fill_tree(tmp_path / "busy", seed=7)
    bench = MoverBench(MemoryObjects(ManualClock()))
    bench.upload(tmp_path / "tree", kind=VolumeKind.DIRECTORY)
    before = picture(tmp_path / "busy")
    with a_process_with(tmp_path / "busy" / "deep" / "large.bin"):
        with pytest.raises(DestinationUnusable, match="busy is in use by python"):
            restored(bench, tmp_path / "busy", VolumeKind.DIRECTORY, force=False)
        assert picture(tmp_path / "busy") == before

        restored(bench, tmp_path / "busy", VolumeKind.DIRECTORY, force=True)

    assert picture(tmp_path / "busy") == picture(tmp_path / "tree")


def test_many_places_are_looked_at_at_once(tmp_path):
    for name in ("tree", "tree-two", "free"):
        fill_tree(tmp_path / name)
    (tmp_path / "disk").write_bytes(b"x")
    (tmp_path / "link").symlink_to("tree")
    paths = [str(tmp_path / name) for name in ("link", "tree-two", "free", "disk", "nothing")]
    with a_process_with(tmp_path / "tree" / "deep" / "large.bin") as one, a_process_with(tmp_path / "disk") as two:
        found = users_of(paths)

    assert {Path(path).name: int(user.split()[-1][:-1]) for path, user in found.items()} == {"link": one, "disk": two}


def test_a_tree_beside_one_that_is_used_is_free(tmp_path):
    fill_tree(tmp_path / "tree")
    fill_tree(tmp_path / "tree-two", seed=7)
    bench = MoverBench(MemoryObjects(ManualClock()))
    bench.upload(tmp_path / "tree", kind=VolumeKind.DIRECTORY)
    with a_process_with(tmp_path / "tree-two" / "text.txt"):
        restored(bench, tmp_path / "tree", VolumeKind.DIRECTORY, force=False)


def test_what_is_mounted_is_known_by_its_place_and_by_its_device():
    assert "/proc" in mounts_below("/")
    root = Path("/").stat().st_dev
    devices = [path for path in Path("/dev").iterdir() if path.is_block_device() and path.stat().st_rdev == root]
    if not devices:
        pytest.skip("the root is on no disk that is in /dev")
    assert user_of_device(str(devices[0])) == "mounted at /"

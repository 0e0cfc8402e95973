"""Small files are made by other processes: the same files, the same errors, and nothing is left out in silence."""

import contextlib
import os
import random
import select
import signal
import subprocess
import sys

import pytest

from tidegate.errors import DamagedMetadata, HelperLost, WorkCancelled
from tidegate.format.trees.batches import Pack
from tidegate.format.trees.entry import EntryType, Extent, TreeEntry
from tidegate.model.volumes.volume import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.volumes.trees.file_makers import FileMakers
from tidegate.volumes.trees.writer import TreeWriter

BLOCK = 2 * 1024 * 1024
LENGTH = 1000


def file(name, number, **fields):
    place = (Extent(number * LENGTH, LENGTH, 0),)
    fields = {"mode": 0o640, "uid": os.geteuid(), "gid": os.getegid(), "mtime_ns": number} | fields
    return TreeEntry(path=name, type=EntryType.FILE, size=LENGTH, extents=place, **fields)


@pytest.fixture
def writer(tmp_path):
    (tmp_path / "tree").mkdir()
    with contextlib.closing(TreeWriter(str(tmp_path / "tree"), block_size=BLOCK)) as writer:
        yield writer


def makers(writer, *, processes=2, on_wait=lambda: None):
    return FileMakers(writer, processes=processes, block_size=BLOCK, on_wait=on_wait)


def made(writer, *packs, **how):
    """Have them all made, each in a block of zeros."""
    with makers(writer, **how) as file_makers:
        for files in packs:
            file_makers.write_pack(Pack(0, files), bytes(BLOCK))
        file_makers.finish()


def is_running(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


@pytest.mark.parametrize("processes", [0, 1, 2])
def test_files_are_the_same_however_many_make_them(writer, tmp_path, processes):
    block = random.Random(1).randbytes(BLOCK)
    files = [file(f"{number:04}", number) for number in range(BLOCK // LENGTH)]

    with makers(writer, processes=processes) as file_makers:
        assert len(file_makers.processes) == processes
        file_makers.write_pack(Pack(0, files), block)
        file_makers.write_pack(Pack(BLOCK, [file("zeros", BLOCK // LENGTH + 1)]), None)
        file_makers.finish()

    for number, entry in enumerate(files):
        path = tmp_path / "tree" / entry.path
        assert path.read_bytes() == block[number * LENGTH : (number + 1) * LENGTH]
        found = path.stat()
        assert (found.st_mode & 0o7777, found.st_mtime_ns) == (0o640, number)
    assert (tmp_path / "tree" / "zeros").read_bytes() == bytes(LENGTH)
    assert len(list((tmp_path / "tree").iterdir())) == len(files) + 1


def test_a_path_that_comes_twice_is_told_as_it_would_be_by_one_process(writer):
    with pytest.raises(DamagedMetadata, match="'same' comes twice") as told:
        made(writer, [file("same", 1)], [file("same", 2)])

    assert "upper from lower case" in told.value.hint


def test_an_error_of_the_system_keeps_its_number(writer):
    with pytest.raises(FileNotFoundError):
        made(writer, [file("no/directory", 1)])


def test_warnings_of_all_makers_are_told(writer):
    made(writer, *([file(f"odd-{number}", number, xattrs={"nonsense.x": b"1"})] for number in range(4)))

    assert sorted(warning.partition(":")[0] for warning in writer.warnings) == ["odd-0", "odd-1", "odd-2", "odd-3"]


def test_a_killed_maker_is_an_error_and_never_a_gap(writer):
    def send_on(file_makers):
        for number in range(20):
            file_makers.write_pack(Pack(0, [file(f"{number}", number)]), bytes(BLOCK))
        file_makers.finish()

    with makers(writer) as file_makers:
        os.kill(file_makers.processes[1], signal.SIGKILL)
        with pytest.raises(HelperLost, match="was killed"):
            send_on(file_makers)


def test_makers_that_do_not_get_on_can_be_cancelled_and_none_stays(writer):
    def cancel():
        raise WorkCancelled("the work was cancelled")

    with makers(writer, on_wait=cancel) as file_makers:
        processes = file_makers.processes
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        file_makers.write_pack(Pack(0, [file("late", 1)]), bytes(BLOCK))
        with pytest.raises(WorkCancelled):
            file_makers.finish()

    assert not any(is_running(process) for process in processes)


class LongWords:
    """A writer whose errors are longer than what fits between two processes."""

    notes = ((), False)

    def write_pack(self, _pack, _block):
        raise DamagedMetadata("damaged " + "x" * 4_000_000)


def test_a_long_error_is_heard_while_more_is_sent():
    long_names = [file("x" * 100_000 + str(number), number) for number in range(50)]

    with pytest.raises(DamagedMetadata, match="damaged x"):
        made(LongWords(), long_names, long_names, long_names, processes=1)


KILLED = """
import os, signal, sys
from tidegate.volumes.trees.file_makers import FileMakers
from tidegate.volumes.trees.writer import TreeWriter
makers = FileMakers(TreeWriter(sys.argv[1], block_size=4096), processes=2, block_size=4096, on_wait=lambda: None)
print(*makers.processes, flush=True)
sys.stdin.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_makers_end_when_their_mover_is_killed(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as mover:
        handles = [os.pidfd_open(int(number)) for number in mover.stdout.readline().split()]
        mover.stdin.write("\n")
        mover.stdin.flush()
        # Nobody but the mover has the other end: makers do not keep it open.
        assert mover.stdout.read() == ""
        for handle in handles:
            assert select.select([handle], [], [], 10)[0]
            os.close(handle)


@pytest.mark.parametrize("memory", [None, 96 * 1024 * 1024])
def test_a_tree_of_many_files_comes_back_as_it_was_with_makers_and_without(tmp_path, memory):
    chance = random.Random(3)
    for number in range(2500):
        directory = tmp_path / "tree" / f"{number // 100:02}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"file-{number}").write_bytes(chance.randbytes(chance.randrange(3000)))
    bench = MoverBench(MemoryObjects(ManualClock()))
    bench.upload(tmp_path / "tree", kind=VolumeKind.DIRECTORY)

    bench.download(tmp_path / "back", kind=VolumeKind.DIRECTORY, memory_bytes=memory)

    assert subprocess.run(["diff", "-r", tmp_path / "tree", tmp_path / "back"], check=False).returncode == 0
    assert _state(tmp_path / "back") == _state(tmp_path / "tree")


def _state(tree):
    found = {path.relative_to(tree): path.stat() for path in tree.rglob("*")}
    return {path: (status.st_mode, status.st_mtime_ns) for path, status in found.items()}

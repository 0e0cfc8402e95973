"""Files that may not be read: left out, named, and the rest is backed up."""

import os
import tempfile
from pathlib import Path

import pytest

from tidegate.errors import SourceUnreadable
from tidegate.model.volumes.volume import VolumeKind
from tidegate.model.volumes.volume_ref import Directory
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.volumes.measure import measure

NOBODY = 65534


def as_nobody(work):
    """What `work` returns as text when a process without rights does it; root may read everything."""
    if os.geteuid() != 0:
        return work()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.write(writing, work().encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


@pytest.fixture
def tree():
    # Not below tmp_path: that is only for its owner, and nobody could not even get there.
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        root.chmod(0o755)
        (root / "open").write_text("readable")
        (root / "secret").write_text("hidden")
        (root / "closed").mkdir()
        (root / "closed" / "inside").write_text("hidden too")
        (root / "secret").chmod(0o000)
        (root / "closed").chmod(0o000)
        yield root
        (root / "closed").chmod(0o700)


def test_unreadable_files_are_named_in_warnings_and_the_rest_is_backed_up(tree):
    def work():
        result = MoverBench(MemoryObjects(ManualClock())).upload(tree, kind=VolumeKind.DIRECTORY)
        return f"{result.size} {' '.join(result.left_out)} {' | '.join(result.warnings)}"

    size, first, second, warnings = as_nobody(work).split(" ", 3)

    assert size == str(len("readable"))
    assert {first, second} == {"secret", "closed"}
    assert "secret" in warnings
    assert "closed" in warnings
    assert "open" not in warnings


def test_no_name_of_an_unreadable_file_becomes_a_link_to_what_the_backup_does_not_have(tree):
    (tree / "sparse").touch()
    os.truncate(tree / "sparse", 2**20)
    os.link(tree / "sparse", tree / "twin")
    (tree / "sparse").chmod(0o000)

    def work():
        bench = MoverBench(MemoryObjects(ManualClock()))
        left_out = bench.upload(tree, kind=VolumeKind.DIRECTORY).left_out
        with tempfile.TemporaryDirectory() as place:
            bench.download(Path(place) / "back", kind=VolumeKind.DIRECTORY)
            return " ".join([*sorted(left_out), "->", *sorted(path.name for path in (Path(place) / "back").iterdir())])

    assert as_nobody(work) == "closed secret sparse twin -> closed open"


def test_a_directory_that_may_not_be_entered_is_refused_when_the_volume_is_made(tree):
    def work():
        try:
            measure(Directory(str(tree / "closed")))
        except SourceUnreadable as error:
            return error.message
        return "no error"

    assert "permission denied" in as_nobody(work).lower()

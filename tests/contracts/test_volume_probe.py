"""What everything that looks at volumes promises."""

import contextlib
import os
import subprocess
from datetime import UTC, datetime

import pytest

from tidegate.app.machine.volume_probe import LocalVolumeProbe
from tidegate.errors import SourceUnreadable
from tidegate.model.restores.restore_plan import Place, PlaceState
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.model.volumes.volume_ref import Claim, Device, Directory, Image
from tidegate.ports.volume_probe import VolumeProbe
from tidegate.testing.doubles.volume_probe import FakeVolumeProbe

CLAIM = Claim("shop", "db")
LONG_AGO, NOW, LATER = (datetime(year, 1, 1, tzinfo=UTC) for year in (2001, 2050, 2999))


class Machine:
    """Volumes on the disk."""

    def __init__(self, root):
        self.root, self.probe = root, LocalVolumeProbe()

    def path(self, name):
        return str(self.root / name)

    def put_directory(self, name, size):
        (self.root / name).mkdir()
        (self.root / name / "file").write_bytes(b"x" * size)

    def put_empty(self, name):
        (self.root / name).mkdir()

    def put_image(self, name, size):
        (self.root / name).write_bytes(b"x" * size)

    def take_away(self, _name):
        """It never was there."""

    @contextlib.contextmanager
    def used(self, name):
        """A process has it open; a child, since a probe overlooks its own."""
        with (self.root / name).open() as file, subprocess.Popen(["sleep", "600"], stdin=file) as process:
            try:
                yield process.pid
            finally:
                process.kill()


class Pretence:
    """Volumes that a fake is told of."""

    def __init__(self, root):
        self.root, self.probe = root, FakeVolumeProbe()

    def path(self, name):
        return str(self.root / name)

    def put_directory(self, name, size):
        self._put(name, size, PlaceState.DIRECTORY)

    def put_empty(self, name):
        self._put(name, 0, PlaceState.EMPTY)

    def put_image(self, name, size):
        self._put(name, size, PlaceState.FILE)

    def take_away(self, name):
        self.probe.missing.add(self.path(name))

    @contextlib.contextmanager
    def used(self, name):
        self.probe.users[self.path(name)] = "sleep (process 7)"
        yield 7

    def _put(self, name, size, state):
        path = self.path(name)
        self.probe.places[path], self.probe.sizes[path] = Place(state=state), size
        self.probe.changed[path] = NOW


IMPLEMENTATIONS: dict[type[VolumeProbe], type] = {LocalVolumeProbe: Machine, FakeVolumeProbe: Pretence}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def world(request, tmp_path):
    return IMPLEMENTATIONS[request.param](tmp_path)


@pytest.fixture
def probe(world):
    return world.probe


async def test_a_volume_has_the_bytes_of_its_files_or_of_its_image(world, probe):
    world.put_directory("tree", 5000)
    world.put_image("disk", 8192)

    assert await probe.measure(Directory(world.path("tree"))) == 5000
    assert await probe.measure(Image(world.path("disk"))) == 8192


@pytest.mark.parametrize("kind", [Directory, Image, Device])
async def test_a_volume_that_is_not_there_is_unreadable_by_name(world, probe, kind):
    world.take_away("gone")

    with pytest.raises(SourceUnreadable, match="gone"):
        await probe.measure(kind(world.path("gone")))


@pytest.mark.parametrize(("kind", "there"), [(Directory, "disk"), (Image, "tree"), (Device, "disk")])
async def test_a_volume_of_another_kind_than_the_named_one_is_unreadable(world, probe, kind, there):
    world.put_directory("tree", 10)
    world.put_image("disk", 10)

    with pytest.raises(SourceUnreadable, match=there):
        await probe.measure(kind(world.path(there)))


async def test_a_look_says_what_is_there_and_nothing_is_a_free_place(world, probe):
    world.put_directory("tree", 10)
    world.put_empty("empty")
    world.put_image("disk", 10)

    names = ("tree", "empty", "disk", "nothing")
    found = {name: (await probe.look_at(Directory(world.path(name)))).state for name in names}
    assert found == {
        "tree": PlaceState.DIRECTORY,
        "empty": PlaceState.EMPTY,
        "disk": PlaceState.FILE,
        "nothing": PlaceState.FREE,
    }


@pytest.mark.parametrize("place", ["kept", "kept/deeper", ""])
async def test_a_kept_place_is_in_the_way_of_what_is_it_lies_in_it_or_holds_it(world, probe, place):
    kept = KeptPlace(path=world.path("kept"), what="the store of target t")

    found = await probe.look_at(Directory(world.path(place)), keep_out=(kept,))

    assert found.in_the_way == f"it is, holds or lies in {world.path('kept')}, the store of target t"
    assert (await probe.look_at(Image(world.path("beside")), keep_out=(kept,))).in_the_way == ""


async def test_each_volume_in_use_has_its_user_and_the_others_have_none(world, probe):
    world.put_image("disk", 10)
    world.put_image("idle", 10)
    disk, others = Image(world.path("disk")), [Image(world.path("idle")), Directory(world.path("nothing")), CLAIM]

    with world.used("disk") as process:
        assert await probe.users_of([disk, *others]) == {disk: f"sleep (process {process})"}


async def test_a_volume_changed_after_what_was_before_its_last_write_only(world, probe):
    world.put_image("disk", 10)
    volume = Image(world.path("disk"))

    assert await probe.changed_since(volume, LONG_AGO)
    assert not await probe.changed_since(volume, LATER)


async def test_what_cannot_be_seen_counts_as_changed(world, probe):
    world.take_away("gone")

    assert await probe.changed_since(Image(world.path("gone")), LATER)
    assert await probe.changed_since(Device(os.devnull), LATER)


async def test_a_claim_is_answered_with_the_one_sentence_that_it_exists_on_a_cluster_only(probe):
    sentence = "claim shop/db exists on a Kubernetes cluster only; name a directory, an image or a device"

    with pytest.raises(SourceUnreadable) as refused:
        await probe.measure(CLAIM)

    assert refused.value.message == sentence
    assert (await probe.look_at(CLAIM)).in_the_way == sentence
    assert await probe.changed_since(CLAIM, LATER)

"""Every implementation of ScratchRoom keeps the same promise."""

from pathlib import Path

import pytest

from tidegate.app.machine.scratch_files import ScratchFiles
from tidegate.errors import DestinationUnusable
from tidegate.ports.scratch import NoScratch, ScratchRoom
from tidegate.testing.doubles.scratch import FakeScratch

IMPLEMENTATIONS: dict[type[ScratchRoom], object] = {
    ScratchFiles: lambda path: ScratchFiles(path / "scratch", kept_free_bytes=0),
    FakeScratch: lambda _path: FakeScratch(),
    NoScratch: lambda _path: NoScratch(),
}
with_room = pytest.mark.parametrize(
    "room", [kind for kind in IMPLEMENTATIONS if kind is not NoScratch], indirect=True, ids=lambda kind: kind.__name__
)


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def room(request, tmp_path):
    return IMPLEMENTATIONS[request.param](tmp_path)


def there(path):
    return Path(path).exists()


def test_each_verification_has_a_place_of_its_own_and_always_the_same(room):
    assert room.place("", "uid-1") == room.place("", "uid-1")
    assert room.place("", "uid-1") != room.place("", "uid-2")


def test_asking_for_a_place_makes_nothing(room, tmp_path):
    room.place("", "uid-1")
    room.place(str(tmp_path / "chosen"), "uid-1")

    assert list(tmp_path.iterdir()) == []


@with_room
def test_a_chosen_directory_holds_the_place(room, tmp_path):
    place = Path(room.place(str(tmp_path / "chosen"), "uid-1"))

    assert place.parent == tmp_path / "chosen"


@with_room
async def test_free_bytes_are_counted(room):
    assert await room.free_bytes(room.place("", "uid-1")) > 0


async def test_removing_is_harmless_where_nothing_is_and_when_repeated(room):
    place = room.place("", "uid-1")

    await room.remove(place)
    await room.remove(place)

    assert not there(place)


@with_room
async def test_everything_in_the_place_is_removed_and_nothing_beside_it(room, tmp_path):
    place, other = (room.place(str(tmp_path / "chosen"), uid) for uid in ("uid-1", "uid-2"))
    for one in (place, other):
        await room.free_bytes(one)
        (Path(one) / "data").mkdir(parents=True)

    await room.remove(place)

    if isinstance(room, FakeScratch):
        assert room.made == {other}
    else:
        assert (there(place), there(f"{other}/data")) == (False, True)


def in_the_way(tmp_path):
    (tmp_path / "file").write_text("in the way")
    return str(tmp_path / "file" / "deeper")


async def test_a_directory_that_cannot_be_made_is_an_error_in_a_sentence(tmp_path):
    for room, chosen in ((ScratchFiles(tmp_path), in_the_way(tmp_path)), (NoScratch(), "")):
        with pytest.raises(DestinationUnusable, match=" "):
            await room.free_bytes(room.place(chosen, "uid-1"))

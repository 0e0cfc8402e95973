"""Scratch places on a real disk."""

from pathlib import Path

import pytest

from tidegate.app.machine.scratch_files import ScratchFiles
from tidegate.errors import DestinationUnusable


@pytest.fixture
def scratch(tmp_path):
    return ScratchFiles(tmp_path / "own", kept_free_bytes=0)


def fill_and_look(place):
    """Something that is hard to remove; the rights of the place itself."""
    (place / "shop" / "db").mkdir(parents=True)
    (place / "shop").chmod(0o500)
    return place.stat().st_mode & 0o777


def there(scratch):
    return list(Path(scratch.place("", "any")).parent.iterdir())


async def test_a_place_is_the_servers_alone_and_goes_with_all_that_is_in_it(scratch):
    place = scratch.place("", "uid-1")
    assert await scratch.free_bytes(place) > 0
    assert fill_and_look(Path(place)) == 0o700

    await scratch.remove(place)
    await scratch.remove(place)

    assert there(scratch) == []


async def test_a_wished_directory_is_used_and_stays_when_the_place_goes(scratch, tmp_path):
    place = scratch.place(str(tmp_path / "wished"), "uid-1")
    await scratch.free_bytes(place)
    (tmp_path / "wished" / "mine").touch()
    await scratch.remove(place)

    assert [found.name for found in (tmp_path / "wished").iterdir()] == ["mine"]


async def test_what_a_link_leads_to_is_not_removed(scratch, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    place = scratch.place("", "uid-1")
    await scratch.free_bytes(place)
    (Path(place) / "link").symlink_to(tmp_path / "precious")
    await scratch.remove(place)

    assert (tmp_path / "precious" / "file").exists()


async def test_nothing_but_a_scratch_place_is_ever_removed(scratch, tmp_path):
    (tmp_path / "precious").mkdir()

    with pytest.raises(DestinationUnusable, match="is not a scratch place"):
        await scratch.remove(str(tmp_path / "precious"))
    assert (tmp_path / "precious").exists()


async def test_what_must_stay_free_for_the_server_does_not_count(tmp_path):
    greedy = ScratchFiles(tmp_path / "own", kept_free_bytes=2**62)

    assert await greedy.free_bytes(greedy.place("", "uid-1")) == 0


async def test_a_directory_that_cannot_be_made_is_told_in_a_sentence(scratch, tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(DestinationUnusable, match="cannot be written"):
        await scratch.free_bytes(scratch.place(str(tmp_path / "file"), "uid-1"))

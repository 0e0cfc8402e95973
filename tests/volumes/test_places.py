"""What a person is told of a place before something is restored to it."""

import os

import pytest

from tidegate.model.restores.restore_plan import Place, PlaceState
from tidegate.volumes.places import look_at, look_with_room


def test_a_place_is_free_where_nothing_is(tmp_path):
    assert look_at(str(tmp_path / "no" / "thing")) == Place()
    (tmp_path / "file").write_text("x")


def test_what_keeps_a_place_from_being_made_is_told(tmp_path):
    (tmp_path / "file").write_text("x")

    assert look_at(str(tmp_path / "file" / "far" / "below")).in_the_way == f"{tmp_path / 'file'} is not a directory"
    assert look_at(str(tmp_path / "free" / "below")).in_the_way == ""


@pytest.mark.parametrize("path", ["/proc/x", "/proc/self/x/y", "/sys/x"])
def test_where_the_kernel_shows_itself_nothing_can_be_made(path):
    assert look_at(path).in_the_way


def test_the_room_is_that_beside_the_place(tmp_path):
    free, taken = look_with_room(str(tmp_path / "no" / "thing")).room, look_with_room(str(tmp_path)).room

    assert free.file_system == taken.file_system
    assert free.free_bytes > 0
    assert look_with_room("/proc").room.free_bytes == 0
    assert look_with_room("/dev/null").state is PlaceState.OTHER


def test_a_directory_tells_whether_it_is_empty_and_how_full_it_is(tmp_path):
    assert look_at(str(tmp_path)).state is PlaceState.EMPTY
    (tmp_path / "one").touch()
    assert look_at(str(tmp_path)) == Place(state=PlaceState.DIRECTORY, detail="a directory with 1 entry")


def test_a_file_tells_its_size_also_behind_a_link(tmp_path):
    (tmp_path / "image").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("image")

    assert look_at(str(tmp_path / "link")) == Place(state=PlaceState.FILE, detail="a file of 5 bytes")


def test_what_is_neither_is_told(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    assert look_at(str(tmp_path / "pipe")).state is PlaceState.OTHER


def test_a_file_system_that_is_mounted_is_told():
    assert look_at("/proc").mounted


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_may_not_be_seen_is_not_taken_for_free(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)

    assert look_at(str(tmp_path / "closed" / "x")).state is PlaceState.UNREADABLE

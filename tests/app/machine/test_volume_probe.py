"""Looking at the volumes of a machine: what has changed since."""

import os
from datetime import UTC, datetime, timedelta

from tidegate.app.machine.volume_probe import LocalVolumeProbe, newest_change
from tidegate.model.volumes.volume_ref import Device, Directory, Image


def settled(path):
    """A moment after the last change of anything at the path, and before the next one that the clock can tell."""
    return datetime.fromtimestamp(newest_change(str(path)), UTC) + timedelta(microseconds=10)


def until_the_clock_shows_it(path, change):
    """File systems keep time in steps of some milliseconds: change until one is over."""
    before = newest_change(str(path))
    while newest_change(str(path)) <= before:
        change()


async def test_a_tree_has_changed_when_a_file_was_touched_or_removed(tmp_path):
    (tmp_path / "deep").mkdir()
    file = tmp_path / "deep" / "file"
    file.write_text("1")
    volume, before = Directory(str(tmp_path)), settled(tmp_path)

    assert not await LocalVolumeProbe().changed_since(volume, before)
    until_the_clock_shows_it(tmp_path, lambda: os.utime(file, (0, 0)))  # who sets the time back has changed it too
    assert await LocalVolumeProbe().changed_since(volume, before)

    before = settled(tmp_path)
    until_the_clock_shows_it(tmp_path, lambda: (file.touch(), file.unlink()))
    assert await LocalVolumeProbe().changed_since(volume, before)


async def test_an_image_tells_by_its_times_and_what_cannot_be_told_counts_as_changed(tmp_path):
    image = tmp_path / "disk.img"
    image.write_bytes(b"1")
    volume, before = Image(str(image)), settled(image)

    assert not await LocalVolumeProbe().changed_since(volume, before)
    until_the_clock_shows_it(image, lambda: image.write_bytes(b"2"))
    assert await LocalVolumeProbe().changed_since(volume, before)
    assert await LocalVolumeProbe().changed_since(Image(str(tmp_path / "missing")), before)
    assert await LocalVolumeProbe().changed_since(Device("/dev/null"), before + timedelta(days=9999))

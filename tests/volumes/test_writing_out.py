"""The disk begins while there is more to write; what it could not write is told, once."""

import os
import threading

import pytest

from tidegate.volumes.writing_out import WritingOut


class Disk:
    """Counts syncs. One that is told to fails at the second."""

    def __init__(self, *, breaks=False):
        self.breaks = breaks
        self.syncs = 0
        self.synced_twice = threading.Event()

    def sync(self, handle):
        os.fstat(handle)
        self.syncs += 1
        if self.syncs == 2:
            self.synced_twice.set()
            if self.breaks:
                raise OSError(5, "the disk is broken")


def test_it_syncs_again_and_again_until_it_is_left(tmp_path):
    disk, before = Disk(), set(threading.enumerate())

    with WritingOut(str(tmp_path), seconds_between=0, sync=disk.sync):
        assert disk.synced_twice.wait(10)
    seen = disk.syncs

    assert set(threading.enumerate()) - before == set()
    assert disk.syncs == seen


def test_a_write_that_was_lost_is_told_at_the_end(tmp_path):
    disk = Disk(breaks=True)

    with (
        pytest.raises(OSError, match="the disk is broken"),
        WritingOut(str(tmp_path), seconds_between=0, sync=disk.sync),
    ):
        assert disk.synced_twice.wait(10)


def test_after_another_error_nobody_waits_for_the_disk(tmp_path):
    busy, go_on = threading.Event(), threading.Event()

    def sync(_handle):
        busy.set()
        assert go_on.wait(10)

    def fail():
        with WritingOut(str(tmp_path), seconds_between=0, sync=sync):
            assert busy.wait(10)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    go_on.set()


def test_what_is_over_soon_is_not_synced_on_the_way(tmp_path):
    disk = Disk()

    with WritingOut(str(tmp_path), seconds_between=3600, sync=disk.sync):
        pass

    assert disk.syncs == 0

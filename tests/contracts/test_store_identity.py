"""Every kind of store has an identity, and is not opened as another one."""

import asyncio
import threading

import pytest

from tidegate.errors import StoreIdentityChanged, StoreIdentityMissing
from tidegate.format.cfgs.store_identity import STORE_IDENTITY
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.backoff import HURRIED
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.identity import check_reader, check_store, give_identity, identity_of
from tidegate.objects.memory import MemoryObjects
from tidegate.objects.open import open_store
from tidegate.objects.open_reader import open_reader
from tidegate.objects.reading import ThreadedReader
from tidegate.testing.clock import ManualClock


class Place:
    """A store, and a reader of the same."""

    def __init__(self, request, tmp_path):
        self.kind = request.param
        self.access = TargetAccess(url=f"file://{tmp_path}")
        if self.kind == "memory":
            self.store = MemoryObjects(ManualClock())
            return
        if self.kind == "s3":
            bucket, credentials = request.getfixturevalue("bucket"), request.getfixturevalue("rclone").credentials()
            self.access = TargetAccess(url=f"s3://{bucket}@us-east-1/some/path/", credentials=credentials)
        self.store = open_store(self.access, patience=HURRIED)

    def reader(self):
        if self.kind == "memory":
            return ThreadedReader(self.store)
        return open_reader(self.access, in_flight=2, pause=asyncio.sleep)


@pytest.fixture(params=["directory", "memory", "s3"])
def place(request, tmp_path):
    return Place(request, tmp_path)


def test_a_store_that_was_never_named_has_no_identity(place):
    assert identity_of(place.store) == ""


def test_of_all_who_name_a_store_at_once_everybody_hears_the_same_name(place):
    heard = []
    threads = [
        threading.Thread(target=lambda number=number: heard.append(give_identity(place.store, f"name-{number}")))
        for number in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(heard) == 6
    assert set(heard) == {identity_of(place.store)}


async def test_the_right_store_is_let_through(place):
    give_identity(place.store, "mine")

    check_store(place.store, "mine", url="u")
    await check_reader(place.reader(), "mine", url="u")


async def test_where_no_store_is_nothing_is_let_through(place):
    with pytest.raises(StoreIdentityMissing, match="u does not lead to store mine"):
        check_store(place.store, "mine", url="u")
    with pytest.raises(StoreIdentityMissing):
        await check_reader(place.reader(), "mine", url="u")


@pytest.mark.parametrize("body", [b'{"identity": "other"}', b"junk"])
async def test_another_store_is_not_let_through_and_is_named(place, body):
    place.store.put(STORE_IDENTITY, body)

    with pytest.raises(StoreIdentityChanged, match=r"to store (other|unreadable).*, not to store mine") as raised:
        check_store(place.store, "mine", url="u")
    with pytest.raises(StoreIdentityChanged):
        await check_reader(place.reader(), "mine", url="u")
    assert raised.value.found == identity_of(place.store)


async def test_who_expects_nothing_takes_what_is_there(place):
    check_store(place.store, "", url="u")
    await check_reader(place.reader(), "", url="u")


def test_opening_a_directory_that_is_another_store_writes_nothing_there(tmp_path):
    with pytest.raises(StoreIdentityMissing, match=f"file://{tmp_path} does not lead"):
        open_store(TargetAccess(url=f"file://{tmp_path}?x=1", identity="mine"))

    assert list(tmp_path.iterdir()) == []


def test_what_was_mounted_over_a_directory_after_it_was_asked_is_not_written_to(tmp_path):
    """The check and all that follows go through one opened root, whatever its name leads to by now."""
    mine, other = tmp_path / "store", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    give_identity(DirectoryObjects(str(mine)), "mine")
    opened = open_store(TargetAccess(url=f"file://{mine}", identity="mine"))
    mine.rename(tmp_path / "away")
    other.rename(mine)

    with pytest.raises(StoreIdentityMissing, match="is not the directory that it was"):
        opened.put("backupstore/x", b"1")
    assert list(mine.iterdir()) == []

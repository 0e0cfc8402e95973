"""Readers keep one promise over directories and over a real S3 server, and have no way to change a store."""

import asyncio
import threading

import pytest

from tidegate.errors import StoreUnavailable
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.open import open_store
from tidegate.objects.open_reader import open_reader
from tidegate.objects.reading import ThreadedReader
from tidegate.ports.object_store import Listing
from tidegate.testing.stores.rclone_server import RcloneServer, rclone_binary


@pytest.fixture(scope="module")
def rclone(tmp_path_factory):
    if rclone_binary() is None:
        pytest.skip("rclone is not installed")
    server = RcloneServer(tmp_path_factory.mktemp("rclone")).start()
    yield server
    server.stop()


@pytest.fixture(params=["file", "s3"])
def access(request, tmp_path):
    if request.param == "file":
        return TargetAccess(url=f"file://{tmp_path}")
    server = request.getfixturevalue("rclone")
    return TargetAccess(url=f"s3://{server.new_bucket()}@us-east-1/path/", credentials=server.credentials())


async def no_pause(_seconds):
    await asyncio.sleep(0)


def reader_of(access):
    return open_reader(access, in_flight=8, pause=no_pause)


async def test_a_bucket_that_is_missing_is_no_empty_store(rclone):
    reader = reader_of(TargetAccess(url="s3://nobodys@us-east-1/", credentials=rclone.credentials()))

    with pytest.raises(StoreUnavailable, match="there is no bucket"):
        await reader.list_level("")


class Hanging:
    """A share whose server is gone."""

    requests_in_flight = 2

    def __init__(self):
        self.begun = threading.Semaphore(0)
        self.over = threading.Event()

    def list_level(self, prefix):
        self.begun.release()
        self.over.wait()
        return Listing((), ())

    def get_part(self, key, *, start, length):
        raise AssertionError


@pytest.fixture
async def directory(tmp_path):
    """A store in a directory, and a reader that was opened on it."""
    store = tmp_path / "store"
    store.mkdir()
    access = TargetAccess(url=f"file://{store}")
    open_store(access).put("backupstore/volumes/one.cfg", b"1")
    return store, reader_of(access)


@pytest.mark.parametrize("left_behind", [False, True], ids=["renamed", "unmounted: an empty directory is left"])
async def test_a_directory_that_went_away_is_neither_empty_nor_what_it_was(directory, left_behind):
    store, reader = directory
    store.rename(store.with_name("elsewhere"))
    if left_behind:
        store.mkdir()

    with pytest.raises(StoreUnavailable, match="is it mounted"):
        await reader.anew()


async def test_a_directory_that_came_back_is_read_as_it_is_now(directory):
    store, reader = directory
    store.rename(store.with_name("elsewhere"))
    with pytest.raises(StoreUnavailable):
        await reader.anew()
    (store / "backupstore" / "volumes").mkdir(parents=True)

    assert (await (await reader.anew()).list_level("backupstore/volumes")).objects == ()
    # Who looks meanwhile, with what was opened before, is not led to the other one.
    assert len((await reader.list_level("backupstore/volumes")).objects) == 1


async def test_the_time_for_an_answer_is_named_and_with_more_of_it_the_same_store_answers():
    """L18."""
    share, slow = Hanging(), Hanging()
    with pytest.raises(StoreUnavailable, match=r"no answer about vols within 0\.05 seconds"):
        await ThreadedReader(share, answer_seconds=0.05).list_level("vols")
    share.over.set()

    patient = ThreadedReader(slow, answer_seconds=3600)
    answer, _ = await asyncio.gather(patient.list_level("vols"), asyncio.to_thread(slow.over.set))
    assert answer == Listing((), ())


async def test_questions_to_a_share_that_hangs_do_not_pile_up():
    share = Hanging()
    reader = ThreadedReader(share, answer_seconds=0.05)
    answers = await asyncio.gather(*(reader.list_level(str(number)) for number in range(20)), return_exceptions=True)

    assert all(isinstance(answer, StoreUnavailable) for answer in answers)
    assert [share.begun.acquire(timeout=30), share.begun.acquire(timeout=30)] == [True, True]
    assert not share.begun.acquire(blocking=False)
    share.over.set()

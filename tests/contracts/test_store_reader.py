"""Every implementation of StoreReader keeps the same promise."""

import asyncio

import pytest

from tidegate.errors import NotFound, StoreUnavailable
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.backoff import HURRIED
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.memory import MemoryObjects
from tidegate.objects.open import open_store
from tidegate.objects.open_reader import open_reader
from tidegate.objects.reading import ThreadedReader
from tidegate.objects.remote_reader import RemoteReader
from tidegate.ports.object_store import Listing
from tidegate.ports.store_reader import StoreReader
from tidegate.testing.clock import ManualClock
from tidegate.testing.stores.store_readers import CountingReader


async def no_pause(_seconds):
    await asyncio.sleep(0)


class Far:
    """A store, and a reader of the same, made by the test once its loop runs."""

    def __init__(self, store, read):
        self.store, self._read = store, read

    def reader(self):
        return self._read()


def in_memory(_request, _tmp_path):
    store = MemoryObjects(ManualClock())
    return Far(store, lambda: CountingReader(store))


def in_directory(_request, tmp_path):
    access = TargetAccess(url=f"file://{tmp_path}")
    return Far(DirectoryObjects(str(tmp_path)), lambda: open_reader(access, in_flight=8, pause=no_pause))


def in_bucket(request, _tmp_path):
    server, bucket = request.getfixturevalue("rclone"), request.getfixturevalue("bucket")
    access = TargetAccess(url=f"s3://{bucket}@us-east-1/path/", credentials=server.credentials())
    return Far(open_store(access, patience=HURRIED), lambda: open_reader(access, in_flight=8, pause=no_pause))


IMPLEMENTATIONS: dict[type[StoreReader], object] = {
    ThreadedReader: in_directory,
    RemoteReader: in_bucket,
    CountingReader: in_memory,
}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def far(request, tmp_path):
    far = IMPLEMENTATIONS[request.param](request, tmp_path)
    far.kind = request.param
    far.store.put("dir/one.cfg", b"0123456789")
    far.store.put("dir/deeper/two.cfg", b"")
    return far


async def test_it_is_what_it_is_listed_as(far):
    assert isinstance(far.reader(), far.kind)


async def test_a_level_is_listed_as_the_store_lists_it(far):
    assert await far.reader().list_level("dir") == far.store.list_level("dir")


async def test_a_prefix_without_objects_is_empty(far):
    assert await far.reader().list_level("nothing") == Listing((), ())


PARTS = [(0, 4, b"0123"), (2, 3, b"234"), (8, 100, b"89"), (0, 10, b"0123456789")]


@pytest.mark.parametrize(("start", "length", "body"), PARTS)
async def test_a_part_has_its_bytes_and_what_there_is_to_know_of_the_object(far, start, length, body):
    part = await far.reader().read_part("dir/one.cfg", start=start, length=length)

    assert (part.body, part.info.size, part.whole) == (body, 10, len(body) == 10)
    assert part.info.etag == far.store.head("dir/one.cfg").etag


async def test_an_empty_object_is_read_whole(far):
    part = await far.reader().read_part("dir/deeper/two.cfg", start=0, length=100)

    assert (part.body, part.whole) == (b"", True)
    assert await far.reader().read_start("dir/deeper/two.cfg", length=100) == b""


async def test_a_beginning_is_cut_only_by_the_end_of_the_object(far):
    reader = far.reader()

    assert await reader.read_start("dir/one.cfg", length=4) == b"0123"
    assert await reader.read_start("dir/one.cfg", length=100) == b"0123456789"


async def test_what_is_not_there_is_not_found(far):
    reader = far.reader()

    with pytest.raises(NotFound):
        await reader.read_part("dir/three.cfg", start=0, length=1)
    with pytest.raises(NotFound):
        await reader.read_start("dir/three.cfg", length=1)


async def test_a_reader_for_one_sync_reads_the_same_store(far):
    anew = await far.reader().anew()

    assert await anew.read_start("dir/one.cfg", length=3) == b"012"
    assert anew.requests_in_flight == far.reader().requests_in_flight >= 1


async def test_a_reader_has_no_way_to_change_a_store(far):
    assert not {"put", "put_if_absent", "delete", "flush"} & set(dir(far.reader()))


async def test_of_many_questions_at_once_each_gets_its_own_answer(far):
    for number in range(40):
        far.store.put(f"many/{number}", b"%d" % number)
    reader = far.reader()

    answers = await asyncio.gather(*(reader.read_start(f"many/{number}", length=10) for number in range(40)))

    assert answers == [b"%d" % number for number in range(40)]


async def test_a_directory_that_is_gone_is_no_empty_store(tmp_path):
    store = tmp_path / "store"
    store.mkdir()
    reader = in_directory(None, store).reader()
    store.rename(tmp_path / "elsewhere")

    with pytest.raises(StoreUnavailable):
        await reader.anew()

"""Looking at stores: in time, and never with more threads than stores."""

import asyncio
import threading

import pytest

from tidegate.app.machine.in_time import in_time
from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.errors import NotFound, StoreUnavailable
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.directory import DirectoryObjects
from tidegate.testing.mover_bench import MoverBench

STORE = TargetAccess(url="file:///somewhere")


async def test_a_store_that_answers_is_good():
    await ThreadedStoreProbe(lambda _access: None).check(STORE)


async def test_what_a_store_says_is_told():
    def refuse(_access):
        raise StoreUnavailable("not today")

    with pytest.raises(StoreUnavailable, match="not today"):
        await ThreadedStoreProbe(refuse).check(STORE)


async def test_a_store_that_hangs_is_given_up_in_time_and_costs_one_thread_only():
    answer, looks, looked = threading.Event(), [], threading.Event()

    def hang(access):
        looks.append(access.url)
        looked.set()
        answer.wait()

    probe = ThreadedStoreProbe(hang, answer_seconds=0.01)
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match="did not answer within"):
            await probe.check(STORE)
    assert looked.wait(30)
    assert looks == [STORE.url]

    answer.set()
    patient = ThreadedStoreProbe(hang)
    await asyncio.gather(patient.check(STORE), patient.check(STORE))
    assert looks == [STORE.url, STORE.url]


async def test_a_store_that_hangs_is_asked_nothing_else():
    answer, asked = threading.Event(), []
    probe = ThreadedStoreProbe(lambda _access: answer.wait(), answer_seconds=0.01)

    with pytest.raises(StoreUnavailable, match="did not answer within"):
        await probe.ask(STORE, lambda: asked.append(STORE))
    answer.set()
    await ThreadedStoreProbe(lambda _access: None).ask(STORE, lambda: asked.append(None))

    assert asked == [None]


async def test_whoever_is_cancelled_when_the_answer_comes_is_cancelled_all_the_same():
    """A look that went on with its answer kept its worker, and so a server that was told to stop, for ever."""
    answer = asyncio.get_running_loop().create_future()
    asking = asyncio.create_task(in_time(answer, "file:///mnt"))
    await asyncio.sleep(0)

    answer.set_result("good")
    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_the_real_look_tells_a_missing_directory(tmp_path):
    await ThreadedStoreProbe().check(TargetAccess(url=f"file://{tmp_path}"))
    with pytest.raises(StoreUnavailable, match="is not a directory"):
        await ThreadedStoreProbe().check(TargetAccess(url=f"file://{tmp_path}/missing"))


async def test_a_stored_backup_tells_what_it_holds_and_a_missing_one_is_not_found(tmp_path):
    (tmp_path / "store").mkdir()
    bench = MoverBench(DirectoryObjects(str(tmp_path / "store")), volume="shop.db")
    (tmp_path / "image").write_bytes(b"x" * 5000)
    bench.upload(tmp_path / "image", "backup-1")
    access = TargetAccess(url=f"file://{tmp_path}/store")

    stored = await ThreadedStoreProbe().stored_backup(access, "shop.db", "backup-1")

    assert (stored.is_tree, stored.size) == (False, 5000)
    with pytest.raises(NotFound, match="cannot find backup backup-2"):
        await ThreadedStoreProbe().stored_backup(access, "shop.db", "backup-2")

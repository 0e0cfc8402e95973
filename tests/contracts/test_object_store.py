"""What every ObjectStore keeps."""

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from tidegate.errors import DamagedMetadata, NotFound
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.backoff import HURRIED
from tidegate.objects.bandwidth import Bandwidth, LimitedFiles, LimitedObjects
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.memory import MemoryObjects
from tidegate.objects.open import open_store
from tidegate.objects.pacing import PacedObjects
from tidegate.objects.pass_through import PassThrough
from tidegate.objects.remote import RemoteObjects
from tidegate.objects.retrying import RetryingObjects
from tidegate.ports.object_store import KeepsUnfinished, ObjectStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.stores.faulty_objects import FaultyObjects
from tidegate.testing.stores.late_objects import Lateness, LateObjects
from tidegate.testing.stores.power_cut import LosingObjects, RecordedObjects
from tidegate.testing.stores.recorded_writes import RecordedDirectory


def in_memory() -> MemoryObjects:
    return MemoryObjects(ManualClock())


def limited(inner: ObjectStore) -> ObjectStore:
    bandwidth = Bandwidth(lambda: 0.0)
    return bandwidth.limited(inner, threading.Event())


def retried(inner: ObjectStore) -> ObjectStore:
    return RetryingObjects(inner, patience=HURRIED, pause=lambda _seconds: False, random=Random(1))


def late(inner: ObjectStore) -> ObjectStore:
    return LateObjects(inner, Lateness(ManualClock(), timedelta(minutes=1)))


IMPLEMENTATIONS: dict[type[ObjectStore], Callable[[Path], ObjectStore] | None] = {
    DirectoryObjects: lambda path: DirectoryObjects(str(path)),
    MemoryObjects: lambda _: in_memory(),
    RemoteObjects: None,
    PassThrough: lambda _: PassThrough(in_memory()),
    PacedObjects: lambda _: PacedObjects(in_memory()),
    RetryingObjects: lambda _: retried(in_memory()),
    LimitedObjects: lambda _: limited(in_memory()),
    LimitedFiles: lambda path: limited(DirectoryObjects(str(path))),
    FaultyObjects: lambda _: FaultyObjects(in_memory()),
    LateObjects: lambda _: late(in_memory()),
    LosingObjects: lambda _: LosingObjects(ManualClock()),
    RecordedObjects: lambda _: RecordedObjects(ManualClock()),
    RecordedDirectory: lambda path: RecordedDirectory(str(path)),
}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    open_it = IMPLEMENTATIONS[request.param]
    if open_it is not None:
        return open_it(tmp_path)
    bucket = request.getfixturevalue("bucket")
    credentials = request.getfixturevalue("rclone").credentials()
    return open_store(
        TargetAccess(url=f"s3://{bucket}@us-east-1/some/path/", credentials=credentials), patience=HURRIED
    )


def test_what_was_put_comes_back(store: ObjectStore) -> None:
    store.put("a/b/c.cfg", b"content")

    assert store.get("a/b/c.cfg", at_most=7) == b"content"


def test_an_empty_object_is_an_object(store: ObjectStore) -> None:
    store.put("a/empty", b"")

    assert (store.get("a/empty", at_most=0), store.head("a/empty").size) == (b"", 0)


def test_an_object_longer_than_expected_is_not_read(store: ObjectStore) -> None:
    store.put("a/b", b"12345678")

    with pytest.raises(DamagedMetadata, match="8 bytes"):
        store.get("a/b", at_most=7)


def test_put_replaces_the_whole_object(store: ObjectStore) -> None:
    store.put("a", b"a long first body")
    store.put("a", b"short")

    assert store.get("a", at_most=100) == b"short"


def test_put_if_absent_leaves_an_existing_object_alone(store: ObjectStore) -> None:
    assert store.put_if_absent("a/b", b"first")
    assert not store.put_if_absent("a/b", b"second")

    assert store.get("a/b", at_most=100) == b"first"


def test_of_many_who_put_if_absent_at_once_exactly_one_succeeds(store: ObjectStore) -> None:
    won: list[int] = []

    def put(number: int) -> None:
        if store.put_if_absent("a/b", b"%d" % number):
            won.append(number)

    threads = [threading.Thread(target=put, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [b"%d" % number for number in won] == [store.get("a/b", at_most=1)]


@pytest.mark.parametrize("key", ["nothing", "a", "a/b/nothing", "a/nothing/at/all"])
def test_what_is_not_there_is_not_found(store: ObjectStore, key: str) -> None:
    store.put("a/b/c", b"")

    with pytest.raises(NotFound):
        store.get(key, at_most=10)
    with pytest.raises(NotFound):
        store.head(key)


def test_head_tells_size_and_an_aware_time(store: ObjectStore) -> None:
    store.put("a/b", b"12345")

    info = store.head("a/b")

    assert (info.key, info.size, info.modified_at.utcoffset() is not None) == ("a/b", 5, True)


def test_a_level_lists_objects_and_deeper_prefixes_sorted(store: ObjectStore) -> None:
    for key in ["v/b.cfg", "v/a.cfg", "v/z/1", "v/c/d/2", "v2/x", "top"]:
        store.put(key, b"")

    level = store.list_level("v")

    assert ([info.key for info in level.objects], level.prefixes) == (["v/a.cfg", "v/b.cfg"], ("v/c", "v/z"))


def test_the_root_can_be_listed(store: ObjectStore) -> None:
    store.put("top", b"")
    store.put("a/b", b"")

    level = store.list_level("")

    assert ([info.key for info in level.objects], level.prefixes) == (["top"], ("a",))


def test_everything_below_a_prefix_is_listed_and_nothing_beside_it(store: ObjectStore) -> None:
    for key in ["v/a", "v/b/c", "v/b/d/e", "vv/f"]:
        store.put(key, b"12")

    assert sorted((info.key, info.size) for info in store.list_all("v")) == [("v/a", 2), ("v/b/c", 2), ("v/b/d/e", 2)]


def test_a_prefix_without_objects_is_empty(store: ObjectStore) -> None:
    assert not store.list_level("nothing/here").objects
    assert list(store.list_all("nothing/here")) == []


def test_deleting_twice_is_harmless(store: ObjectStore) -> None:
    store.put("a/b", b"")
    store.delete("a/b")
    store.delete("a/b")

    with pytest.raises(NotFound):
        store.head("a/b")


def test_what_is_put_lazily_is_visible_at_once_and_stays_after_a_flush(store: ObjectStore) -> None:
    store.put("a/b", b"old")
    store.put("a/b", b"lazy", lazily=True)
    assert store.put_if_absent("a/c", b"also lazy", lazily=True)
    assert not store.put_if_absent("a/c", b"too late", lazily=True)
    seen = store.get("a/b", at_most=100)

    store.flush()

    assert (seen, store.get("a/b", at_most=100), store.get("a/c", at_most=100)) == (b"lazy", b"lazy", b"also lazy")


def test_flushing_nothing_is_harmless(store: ObjectStore) -> None:
    store.flush()

    assert not store.list_level("").objects


def test_a_store_says_how_many_requests_keep_it_busy(store: ObjectStore) -> None:
    assert store.requests_in_flight >= 1


def with_files(path: Path) -> DirectoryObjects:
    return DirectoryObjects(str(path))


FILES: dict[type[KeepsUnfinished], Callable[[Path], ObjectStore]] = {
    DirectoryObjects: with_files,
    LimitedFiles: lambda path: limited(with_files(path)),
    RecordedDirectory: lambda path: RecordedDirectory(str(path)),
}


@pytest.fixture(params=FILES, ids=lambda kind: kind.__name__)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    return FILES[request.param](tmp_path)


def test_what_a_dead_writer_left_is_no_object_but_can_be_found_and_deleted(files: ObjectStore, tmp_path: Path) -> None:
    assert isinstance(files, KeepsUnfinished)
    files.put("a/whole", b"1")
    half = tmp_path / "a" / "half.tmp.0123456789abcdef"
    half.write_bytes(b"ha")

    assert [info.key for info in files.list_all("a")] == ["a/whole"]
    (left,) = files.unfinished("a")
    assert files.head(left).size == 2
    files.delete(left)
    assert not half.exists()


def test_only_empty_directories_are_removed_and_twice_is_harmless(files: ObjectStore, tmp_path: Path) -> None:
    assert isinstance(files, KeepsUnfinished)
    files.put("a/b/c/1", b"1")
    files.put("a/d/2", b"2")
    files.delete("a/b/c/1")

    files.remove_empty("a")
    files.remove_empty("a")
    files.remove_empty("never/there")

    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == ["a", "a/d", "a/d/2"]

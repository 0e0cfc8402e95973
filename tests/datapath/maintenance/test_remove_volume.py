"""Removing a whole volume: everything in its directory, nothing beside it, whatever lies there."""

import pytest

from tidegate.datapath.stored_volume import StoredVolume, volume_names
from tidegate.errors import InvalidInput, StoreUnavailable
from tidegate.format.cfgs.lock_file import LockFile, LockType
from tidegate.format.cfgs.paths import backup_cfg_key, block_key, lock_key, volume_cfg_key, volume_dir
from tidegate.model.transfers.mover_job import RemoveJob
from tidegate.objects.directory import DirectoryObjects
from tidegate.testing.mover_bench import TARGET, MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects

GONE = "shop.db"
KEPT = "shop.web"


def remove_volume(bench, volume=GONE):
    return bench.do(RemoveJob(target=TARGET, store_volume=volume, store_backups=(), whole_volume=True))


@pytest.fixture(params=["memory", "directory"])
def objects(request, store, tmp_path):
    if request.param == "memory":
        return store
    (tmp_path / "store").mkdir()
    return DirectoryObjects(str(tmp_path / "store"))


@pytest.fixture
def bench(objects, clock, image):
    """Two volumes with two backups each."""
    bench = MoverBench(objects, clock=clock, volume=GONE)
    for volume in (GONE, KEPT):
        bench.volume = volume
        bench.upload(image("AB"), "backup-1")
        bench.upload(image("BC"), "backup-2")
    return bench


def keys(objects, volume):
    return [info.key for info in objects.list_all(volume_dir(volume))]


def test_all_of_it_goes_and_other_volumes_stay(bench, objects):
    before = keys(objects, KEPT)

    remove_volume(bench)

    assert keys(objects, GONE) == []
    assert keys(objects, KEPT) == before
    assert list(volume_names(objects)) == [KEPT]


def test_it_goes_without_a_volume_cfg_and_with_things_that_nobody_understands(bench, objects):
    objects.delete(volume_cfg_key(GONE))
    objects.put(backup_cfg_key(GONE, "backup-9"), b"{ not JSON")
    objects.put(f"{volume_dir(GONE)}/backups/tidegate-index.json.gz", b"junk")
    objects.put(f"{volume_dir(GONE)}/notes/of a person.txt", b"hello")

    remove_volume(bench)

    assert keys(objects, GONE) == []
    assert list(volume_names(objects)) == [KEPT]


def test_removing_it_again_is_harmless_and_writes_nothing(bench, objects):
    remove_volume(bench)
    remove_volume(bench)

    assert list(volume_names(objects)) == [KEPT]


def test_backups_go_before_their_blocks_so_that_none_is_ever_half(bench, store, clock):
    gone = []

    class Watching(FaultyObjects):
        def delete(self, key):
            gone.append(key)
            super().delete(key)

    watched = MoverBench(Watching(bench.objects), clock=clock, volume=GONE)
    remove_volume(watched)

    cfgs = [place for place, key in enumerate(gone) if key.endswith(".cfg")]
    blocks = [place for place, key in enumerate(gone) if key.endswith(".blk")]
    assert max(cfgs) < min(blocks)
    assert (len(cfgs), len(blocks)) == (3, 3)


def test_a_listing_that_leads_elsewhere_is_not_followed(bench, objects, clock):
    other = backup_cfg_key(KEPT, "backup-1")

    class Lying(FaultyObjects):
        def list_all(self, prefix):
            yield from super().list_all(prefix)
            yield objects.head(other)

    with pytest.raises(StoreUnavailable, match="below the directory of volume"):
        remove_volume(MoverBench(Lying(objects), clock=clock, volume=GONE))

    assert objects.head(other)


@pytest.mark.parametrize("name", ["..", "../shop.web", "a/b", "", ".", "shop.db/../shop.web", "x\0y", "x" * 10_000])
def test_a_name_that_leads_out_of_its_directory_deletes_nothing(bench, objects, name):
    before = sorted(info.key for info in objects.list_all(""))

    with pytest.raises(InvalidInput):
        remove_volume(bench, name)
    with pytest.raises(InvalidInput):
        bench.do(RemoveJob(target=TARGET, store_volume=GONE, store_backups=(name,)))

    assert sorted(info.key for info in objects.list_all("")) == before


def test_the_living_lock_of_somebody_else_who_deletes_stays(bench, objects):
    theirs = lock_key(GONE, "lock-0123456789abcdef")
    objects.put(theirs, LockFile("lock-0123456789abcdef", LockType.DELETION, acquired=True).encode())

    result = remove_volume(bench)

    assert keys(objects, GONE) == [theirs]
    assert "other clients work on volume" in result.warnings[0]


def test_links_in_a_share_are_never_followed_and_empty_directories_go(image, tmp_path, clock):
    (tmp_path / "store").mkdir()
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("mine")
    objects = DirectoryObjects(str(tmp_path / "store"))
    bench = MoverBench(objects, clock=clock, volume=GONE)
    bench.upload(image("A"), "backup-1")
    home = tmp_path / "store" / volume_dir(GONE)
    (home / "empty" / "deep").mkdir(parents=True)
    (home / "link").symlink_to(tmp_path / "precious")

    with pytest.raises(StoreUnavailable, match="link is a symbolic link"):
        remove_volume(bench)
    assert (tmp_path / "precious" / "file").read_text() == "mine"
    (home / "link").unlink()
    remove_volume(bench)

    assert not home.exists()


def test_many_backups_of_a_volume_collect_garbage_once(store, clock, image):
    listed = []

    class Counting(FaultyObjects):
        def list_all(self, prefix):
            listed.append(prefix)
            return super().list_all(prefix)

    bench = MoverBench(Counting(store), clock=clock, volume=GONE)
    names = [f"backup-{number}" for number in range(12)]
    for number, name in enumerate(names):
        bench.upload(image("AB" if number % 2 else "BC"), name)
    listed.clear()

    bench.remove(*names[:-1])

    volume = StoredVolume(store, GONE)
    assert volume.backup_names() == {"backup-11"}
    assert sum(1 for _ in volume.block_sizes()) == 2
    assert listed.count(f"{volume_dir(GONE)}/blocks") == 1
    assert store.head(block_key(GONE, next(volume.block_sizes())[0]))

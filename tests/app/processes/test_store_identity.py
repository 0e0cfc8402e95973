"""Which stores are given an identity, and by what those from before are recognised."""

import json

import pytest

from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.datapath.inspection.listing import list_volumes
from tidegate.errors import StoreIdentityMissing
from tidegate.format.cfgs.store_identity import STORE_IDENTITY
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.identity import identity_of
from tidegate.testing.stores.golden import GOLDEN, WHY_SKIPPED, copy_of_store
from tidegate.testing.stores.stored_samples import volume_name, write_volumes

NAMES = [volume_name(number) for number in range(4)]


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store"
    path.mkdir()
    return path


async def identify(path, *volumes):
    return await ThreadedStoreProbe().identify(TargetAccess(url=f"file://{path}"), volumes=volumes)


def files(path):
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}


async def test_a_new_store_is_given_an_identity_and_keeps_it(store):
    first = await identify(store)

    assert first
    assert await identify(store) == first
    assert list(files(store)) == [STORE_IDENTITY]


async def test_two_stores_never_have_the_same_one(store, tmp_path):
    assert await identify(store) != await identify(tmp_path)


async def test_a_store_from_before_that_holds_the_known_volumes_is_recognised_and_nothing_else_in_it_changes(store):
    write_volumes(store, volumes=4, backups=1)
    before = files(store)

    assert await identify(store, *NAMES)
    after = files(store)
    after.pop(STORE_IDENTITY)
    assert after == before


async def test_a_store_of_which_others_have_deleted_some_volumes_is_still_recognised(store):
    write_volumes(store, volumes=2, backups=1)

    assert await identify(store, *NAMES)


@pytest.mark.parametrize("there", [0, 1])
async def test_a_place_that_does_not_hold_the_known_volumes_is_given_nothing(store, there):
    """An empty directory below a mount point, or a disk onto which one backup went while nobody noticed."""
    if there:
        write_volumes(store, volumes=there, backups=1)
    before = files(store)

    with pytest.raises(StoreIdentityMissing, match=f"of 4 volumes that should be there it holds {there}"):
        await identify(store, *NAMES)
    assert files(store) == before


async def test_one_that_has_an_identity_needs_no_other_proof(store):
    first = await identify(store)

    assert await identify(store, *NAMES) == first


async def test_looks_that_know_the_identity_change_nothing_and_refuse_another_one(store):
    access, probe = TargetAccess(url=f"file://{store}", identity="mine"), ThreadedStoreProbe()

    with pytest.raises(StoreIdentityMissing):
        await probe.check(access)
    with pytest.raises(StoreIdentityMissing):
        await probe.stored_backup(access, "v-1", "backup-1")
    assert files(store) == {}


@pytest.mark.skipif(not GOLDEN.is_dir(), reason=WHY_SKIPPED)
@pytest.mark.parametrize("case", ["gzip", "lz4"])
async def test_a_store_that_longhorn_wrote_is_listed_as_longhorn_lists_it_with_an_identity_in_it(case, tmp_path):
    store = copy_of_store(case, tmp_path / "store")

    assert await identify(store)

    objects = DirectoryObjects(str(store))
    expected = json.loads((GOLDEN / case / "expected" / "ls.json").read_text())
    assert identity_of(objects)
    assert json.loads(json.dumps(list_volumes(objects))) == expected

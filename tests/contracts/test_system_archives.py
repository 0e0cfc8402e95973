"""Every implementation of SystemArchives keeps the same promise."""

import pytest

from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.app.machine.system_archives import StoreArchives
from tidegate.errors import AlreadyExists, DamagedMetadata, NotFound, StoreUnavailable, WrongKey
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace
from tidegate.model.system.system import VolumeBackupPolicy
from tidegate.model.system_archive import ArchiveMetadata, SystemArchive
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.directory import DirectoryObjects
from tidegate.ports.system_archives import NoArchives, SystemArchives
from tidegate.testing.resources.builders import THEN, a_volume
from tidegate.testing.stores.system_archives import MemoryArchives

KEY = "ab" * 32
NOWHERE = ArchivePlace("nothing", "v1")


class Case:
    """An implementation and the access to its store. The files of the store are in `root`."""

    def __init__(self, archives, root, credentials=None):
        self.archives, self.root = archives, root
        self.access = TargetAccess(url=f"file://{root}", credentials=credentials or {})
        self.without_key = lambda: (archives, TargetAccess(url=f"file://{root}"))

    async def write(self, archive, version="v1"):
        return await self.archives.write(self.access, version, archive)


def in_real_stores(root, *, sealed=False):
    return Case(StoreArchives(ThreadedStoreProbe()), root, {"TIDEGATE_ENCRYPTION_KEY": KEY} if sealed else None)


def in_one_store(root, *, sealed=False):
    objects = DirectoryObjects(str(root))
    case = Case(MemoryArchives(objects, key=EncryptionKey.parse(KEY) if sealed else None), root)
    case.without_key = lambda: (MemoryArchives(objects), case.access)
    return case


IMPLEMENTATIONS: dict[type[SystemArchives], object] = {
    StoreArchives: in_real_stores,
    MemoryArchives: in_one_store,
    NoArchives: lambda root: Case(NoArchives(), root),
}
HOLDERS = [kind for kind in IMPLEMENTATIONS if kind is not NoArchives]


@pytest.fixture(params=HOLDERS, ids=lambda kind: kind.__name__)
def opener(request):
    return IMPLEMENTATIONS[request.param]


@pytest.fixture
def case(opener, tmp_path):
    return opener(tmp_path)


def an_archive(name="weekly", *, uid="u"):
    metadata = ArchiveMetadata(
        version="v1", created_at=THEN, system_backup_uid=uid, volume_backup_policy=VolumeBackupPolicy.ALWAYS
    )
    return SystemArchive(name, metadata, (a_volume("shop", "db"),), ())


async def test_what_was_written_is_found_looked_at_and_read(case):
    written = [await case.write(an_archive(name)) for name in ("weekly", "daily")]

    assert await case.archives.found(case.access) == [written[1].place, written[0].place]
    assert await case.archives.look(case.access, written[0].place) == written[0]
    read = await case.archives.read(case.access, written[0].place)
    assert [one.name for one in read.definitions] == ["db"]


async def test_writing_the_same_again_is_harmless(case):
    assert await case.write(an_archive()) == await case.write(an_archive())


async def test_the_name_of_another_one_is_refused_and_that_one_left_alone(case):
    first = await case.write(an_archive())

    with pytest.raises(AlreadyExists):
        await case.write(an_archive(uid="another"))
    assert await case.archives.look(case.access, first.place) == first


async def test_what_does_not_exist_is_not_found(case):
    assert await case.archives.found(case.access) == []
    for look in (case.archives.look, case.archives.read):
        with pytest.raises(NotFound):
            await look(case.access, NOWHERE)


async def test_removing_is_harmless_where_nothing_is(case):
    stored = await case.write(an_archive())

    await case.archives.remove(case.access, stored.place)
    await case.archives.remove(case.access, stored.place)

    assert await case.archives.found(case.access) == []


async def test_only_what_this_system_backup_wrote_is_removed_where_that_is_asked_for(case):
    stored = await case.write(an_archive(uid="mine"))

    await case.archives.remove(case.access, stored.place, only_of="another")
    assert await case.archives.found(case.access) == [stored.place]
    await case.archives.remove(case.access, stored.place, only_of="mine")
    assert await case.archives.found(case.access) == []


async def test_what_is_damaged_is_told(case):
    stored = await case.write(an_archive())
    (case.root / stored.place.zip_key).write_bytes(b"rot")
    with pytest.raises(DamagedMetadata):
        await case.archives.read(case.access, stored.place)

    (case.root / stored.place.cfg_key).write_bytes(b"rot")
    with pytest.raises(DamagedMetadata):
        await case.archives.look(case.access, stored.place)


async def test_a_sealed_one_is_read_with_its_key_only(opener, tmp_path):
    case = opener(tmp_path, sealed=True)
    stored = await case.write(an_archive())
    archives, access = case.without_key()

    assert stored.encryption
    assert (await case.archives.read(case.access, stored.place)).name == "weekly"
    with pytest.raises(WrongKey):
        await archives.read(access, stored.place)


@pytest.mark.parametrize("kind", IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
async def test_a_store_that_is_away_is_unavailable(kind, tmp_path):
    case = IMPLEMENTATIONS[kind](tmp_path)
    if kind is MemoryArchives:
        case.archives.away = True
    if kind is StoreArchives:
        case.access = TargetAccess(url=f"file://{tmp_path}/away")
    for asked in (
        case.archives.look(case.access, NOWHERE),
        case.archives.read(case.access, NOWHERE),
        case.archives.remove(case.access, NOWHERE),
        case.write(an_archive()),
    ):
        with pytest.raises(StoreUnavailable):
            await asked

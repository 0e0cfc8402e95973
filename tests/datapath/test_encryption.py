"""Encrypted backups beside plain ones, and keys that are missing or wrong."""

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedMetadata, InvalidInput, WrongKey
from tidegate.format.blocks.checksum import checksum
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.cfgs.paths import backup_cfg_key
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.sample_data import fill_tree, picture
from tidegate.testing.stores.faulty_objects import FaultyObjects

VOLUME = "shop.db"
KEY, OTHER_KEY = "11" * 32, "22" * 32


@pytest.fixture
def sealed(store, clock):
    return MoverBench(store, clock=clock, key=KEY)


def block_count(store):
    return sum(1 for _ in StoredVolume(store, VOLUME).block_sizes())


def test_an_encrypted_image_comes_back_and_nothing_of_it_is_in_the_store(sealed, store, image, tmp_path):
    content = image("AB-A").read_bytes()
    sealed.upload(tmp_path / "image")
    sealed.download(tmp_path / "back")

    stored = b"".join(store.get(info.key, at_most=10**8) + info.key.encode() for info in store.list_all(""))
    assert (tmp_path / "back").read_bytes() == content
    assert checksum(content[: 2 * 1024 * 1024]).encode() not in stored
    assert content[:64] not in stored


def test_an_encrypted_tree_comes_back_and_its_names_stay_hidden(sealed, store, tmp_path):
    tree = fill_tree(tmp_path / "tree")
    sealed.upload(tree, kind=VolumeKind.DIRECTORY)
    sealed.download(tmp_path / "back", kind=VolumeKind.DIRECTORY)

    assert picture(tmp_path / "back") == picture(tree)
    assert not [info for info in store.list_all("") if b"large.bin" in store.get(info.key, at_most=10**8)]


def test_equal_blocks_are_stored_once_under_one_key(sealed, store, image):
    sealed.upload(image("AABA"), "backup-1")
    second = sealed.upload(image("AAB-"), "backup-2")

    assert (block_count(store), second.new_bytes) == (2, 0)


def test_plain_and_encrypted_backups_of_a_volume_live_side_by_side_and_share_nothing(
    sealed, bench, store, image, tmp_path
):
    content = image("AB").read_bytes()
    for number, one in enumerate([bench, sealed, MoverBench(store, clock=bench.clock, key=OTHER_KEY), bench, sealed]):
        one.upload(tmp_path / "image", f"backup-{number}")
        one.download(tmp_path / f"back-{number}", f"backup-{number}")
        assert (tmp_path / f"back-{number}").read_bytes() == content
    sealed.download(tmp_path / "plain", "backup-0")

    assert (tmp_path / "plain").read_bytes() == content
    assert block_count(store) == 6


def test_removing_encrypted_backups_needs_no_key_and_leaves_the_others_whole(sealed, bench, store, image, tmp_path):
    sealed.upload(image("AB"), "backup-1")
    sealed.upload(image("BC"), "backup-2")
    bench.upload(image("BC"), "backup-3")

    bench.remove("backup-1", "backup-3")
    sealed.download(tmp_path / "back", "backup-2")

    assert (tmp_path / "back").read_bytes() == image("BC").read_bytes()
    assert block_count(store) == 2


@pytest.mark.parametrize(("key", "sentence"), [(None, "no key was given"), (OTHER_KEY, "the key given is")])
def test_without_the_right_key_a_restore_ends_before_any_block_is_read(sealed, image, tmp_path, key, sentence):
    sealed.upload(image("AB"))
    watched = FaultyObjects(sealed.objects)

    with pytest.raises(WrongKey, match=sentence):
        MoverBench(watched, clock=sealed.clock, key=key).download(tmp_path / "back")
    assert not [key for _, key in watched.calls if key.endswith(".blk")]
    assert [path.name for path in tmp_path.iterdir()] == ["image"]


def test_a_key_that_is_none_ends_the_work_before_the_store_is_touched(store, image):
    with pytest.raises(InvalidInput, match="32 bytes"):
        MoverBench(store, key="nonsense").upload(image("A"))
    assert list(store.list_all("")) == []


def test_a_block_map_that_somebody_changed_is_not_restored(sealed, store, image, tmp_path):
    sealed.upload(image("AB"))
    key = backup_cfg_key(VOLUME, "backup-1")
    one, other = (ref.checksum.encode() for ref in StoredVolume(store, VOLUME).backup_cfg("backup-1").blocks)
    body = store.get(key, at_most=10**6)
    store.put(key, body.replace(one, b"x").replace(other, one).replace(b"x", other))

    with pytest.raises(DamagedMetadata):
        sealed.download(tmp_path / "back")


def test_a_whole_cfg_under_another_name_is_not_restored(sealed, store, image, tmp_path):
    sealed.upload(image("AB"))
    store.put(backup_cfg_key(VOLUME, "backup-2"), store.get(backup_cfg_key(VOLUME, "backup-1"), at_most=10**6))

    with pytest.raises(DamagedMetadata, match="is that of backup 'backup-1'"):
        sealed.download(tmp_path / "back", "backup-2")


def test_blocks_are_reused_only_from_backups_of_the_same_kind_and_key(sealed, bench, store, image):
    bench.upload(image("A"), "backup-1")
    sealed.upload(image("A"), "backup-2")
    mine, theirs = (StoredVolume(store, VOLUME, key=EncryptionKey.parse(text)) for text in (KEY, OTHER_KEY))
    plain = StoredVolume(store, VOLUME)

    assert [plain.may_reuse(plain.backup_cfg(name)) for name in ("backup-1", "backup-2")] == [True, False]
    assert [mine.may_reuse(mine.backup_cfg(name)) for name in ("backup-1", "backup-2")] == [False, True]
    assert [theirs.may_reuse(theirs.backup_cfg(name)) for name in ("backup-1", "backup-2")] == [False, False]

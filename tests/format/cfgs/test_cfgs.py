"""The traps of Longhorn's metadata, one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import DamagedMetadata
from tidegate.format.blocks.checksum import checksum
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.backup_cfg import BackupCfg, BlockRef, block_parameters
from tidegate.format.cfgs.lock_file import LockFile, LockType
from tidegate.format.cfgs.volume_cfg import VolumeCfg
from tidegate.testing.stores.golden import GOLDEN, WHY_SKIPPED, golden_files

needs_golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason=WHY_SKIPPED)

MIB = 1024 * 1024
SUM = checksum(b"")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAMES = st.from_regex(r"[a-zA-Z0-9][a-zA-Z0-9_-]{1,20}", fullmatch=True)
SIZES = st.integers(0, 2**63 - 1)
VOLUME_CFGS = st.builds(
    VolumeCfg,
    name=TEXT,
    size=SIZES,
    labels=st.dictionaries(TEXT, TEXT, max_size=3),
    created_time=TEXT,
    last_backup_name=NAMES | st.just(""),
    last_backup_at=TEXT,
    block_count=SIZES,
    backing_image_name=TEXT,
    backing_image_checksum=TEXT,
    compression=st.sampled_from(Compression),
    storage_class_name=TEXT,
    data_engine=st.sampled_from(["v1", "v2"]),
)
BLOCKS = st.dictionaries(st.integers(0, 10**6), st.binary(max_size=4), max_size=5).map(
    lambda blocks: tuple(BlockRef(number * 2 * MIB, checksum(blocks[number])) for number in sorted(blocks))
)
BACKUP_CFGS = st.builds(
    BackupCfg,
    name=TEXT,
    volume_name=TEXT,
    compression=st.sampled_from(Compression),
    snapshot_name=TEXT,
    snapshot_created_at=TEXT,
    created_time=TEXT,
    labels=st.dictionaries(TEXT, TEXT, max_size=3),
    parameters=st.dictionaries(TEXT, TEXT, max_size=3),
    is_incremental=st.booleans(),
    newly_uploaded_size=SIZES,
    re_uploaded_size=SIZES,
    blocks=BLOCKS,
    single_file=TEXT,
)


@given(VOLUME_CFGS)
def test_a_volume_cfg_comes_back_whole(cfg):
    assert VolumeCfg.decode(cfg.encode()) == cfg


@given(BACKUP_CFGS)
def test_a_backup_cfg_comes_back_whole(cfg):
    assert BackupCfg.decode(cfg.encode()) == cfg


@needs_golden
@pytest.mark.parametrize("path", golden_files("volume.cfg"), ids=lambda path: path.parent.name)
def test_longhorns_volume_cfg_is_written_again_as_it_was(path):
    body = path.read_bytes()

    assert VolumeCfg.decode(body).encode() == body.replace(b'"Labels":null', b'"Labels":{}')


@needs_golden
@pytest.mark.parametrize("path", golden_files("backup_*.cfg"), ids=lambda path: path.stem)
def test_longhorns_backup_cfg_is_written_again_as_it_was_but_for_nulls(path):
    body = path.read_bytes()
    ours = body.replace(b'"Labels":null', b'"Labels":{}').replace(b'"Parameters":null', b'"Parameters":{}')

    assert BackupCfg.decode(body).encode() == ours


@needs_golden
@pytest.mark.parametrize("path", golden_files("*.lck"), ids=lambda path: path.stem)
def test_longhorns_lock_is_written_again_as_it_was(path):
    assert LockFile.decode(path.read_bytes()).encode() == path.read_bytes()


def test_five_fields_of_a_volume_cfg_are_doubly_encoded():
    body = VolumeCfg(name="v", size=1, compression=Compression.LZ4).encode()

    assert b'"CompressionMethod":"\\"lz4\\"","StorageClassName":"\\"\\"","DataEngine":"\\"v1\\""}' in body


@pytest.mark.parametrize("value", ['"lz4"', '""', "7", '"\\"zstd\\""', '"7"', "{}"])
def test_a_volume_cfg_with_another_encoding_is_damaged(value):
    with pytest.raises(DamagedMetadata):
        VolumeCfg.decode(b'{"Name":"v","Size":"1","CompressionMethod":%s}' % value.encode())


def test_fields_that_old_volume_cfgs_lack_have_their_old_meaning():
    cfg = VolumeCfg.decode(b'{"Name":"v","Size":"20971520","BlockCount":"7","Labels":null,"DataEngine":null}')

    assert cfg == VolumeCfg(name="v", size=20 * MIB, block_count=7, compression=Compression.GZIP, data_engine="v1")


def test_fields_match_in_any_case_the_last_wins_and_the_rest_is_ignored():
    body = b' \n{"nAmE":"a","Name":"b","new":[1],"SIZE":"5"}{"Name":"c"} garbage'

    assert VolumeCfg.decode(body) == VolumeCfg(name="b", size=5, compression=Compression.GZIP)


@pytest.mark.parametrize("value", ["5", '""', '"2.0e7"', '"-1"', '"99999999999999999999"', "true", '" 5"', '"\u0665"'])
def test_a_size_that_is_no_decimal_string_is_damaged(value):
    with pytest.raises(DamagedMetadata, match="Size"):
        VolumeCfg.decode(b'{"Name":"v","Size":%s}' % value.encode())


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xef\xbb\xbf{}", b"[]", b"null", b'"x"', b'{"Labels":{"a":1}}', b'{"Labels":[]}', b"[" * 100_000],
)
def test_what_is_no_cfg_is_damaged(body):
    for decode in (VolumeCfg.decode, BackupCfg.decode, LockFile.decode):
        if b"Labels" not in body or decode != LockFile.decode:
            with pytest.raises(DamagedMetadata):
                decode(body)


def test_a_volume_cfg_cannot_name_a_last_backup_outside_of_its_directory():
    with pytest.raises(DamagedMetadata, match="last backup"):
        VolumeCfg.decode(b'{"Name":"v","Size":"1","LastBackupName":"../../../x"}')


def test_what_go_escapes_is_escaped():
    assert (
        b'"Labels":{"a":"\\u003cb\\u003e \\u0026 \xc3\xa4"}'
        in BackupCfg(name="b", volume_name="v", compression=Compression.NONE, labels={"a": "<b> & ä"}).encode()
    )


def test_an_in_progress_cfg_is_nearly_empty():
    cfg = BackupCfg(name="b1", volume_name="v1", compression=Compression.LZ4)

    assert cfg.in_progress
    assert cfg.encode() == (
        b'{"Name":"b1","VolumeName":"v1","SnapshotName":"","SnapshotCreatedAt":"","CreatedTime":"","Size":"0",'
        b'"Labels":{},"Parameters":{},"IsIncremental":false,"CompressionMethod":"lz4","NewlyUploadedDataSize":"0",'
        b'"ReUploadedDataSize":"0","ProcessingBlocks":null,"SingleFile":{"FilePath":""}}'
    )


def test_blocks_are_sorted_whoever_wrote_them():
    blocks = b'{"Offset":4194304,"BlockChecksum":"%s"},{"Offset":0,"BlockChecksum":"%s"}' % ((SUM.encode(),) * 2)

    assert BackupCfg.decode(b'{"Blocks":[%s]}' % blocks).blocks == (BlockRef(0, SUM), BlockRef(4 * MIB, SUM))


@pytest.mark.parametrize(
    "block",
    [
        '{"Offset":"0","BlockChecksum":"SUM"}',
        '{"Offset":-2097152,"BlockChecksum":"SUM"}',
        '{"Offset":1,"BlockChecksum":"SUM"}',
        '{"Offset":0.0,"BlockChecksum":"SUM"}',
        '{"Offset":true,"BlockChecksum":"SUM"}',
        '{"Offset":0,"BlockChecksum":"../../../x"}',
        '{"Offset":0,"BlockChecksum":""}',
        '{"Offset":0,"BlockChecksum":"SUM"},{"Offset":0,"BlockChecksum":"SUM"}',
        "7",
    ],
)
def test_a_block_that_cannot_be_is_damage(block):
    with pytest.raises(DamagedMetadata):
        BackupCfg.decode(f'{{"Blocks":[{block.replace("SUM", SUM)}]}}'.encode())


@pytest.mark.parametrize(
    ("text", "size"),
    [("2097152", 2 * MIB), ("16777216", 16 * MIB), ("2Mi", 2 * MIB), ("", 2 * MIB), ("0", 2 * MIB), (None, 2 * MIB)],
)
def test_the_block_size_is_read_in_every_form(text, size):
    parameters = {} if text is None else {"backup-block-size": text}
    cfg = BackupCfg(name="b", volume_name="v", compression=Compression.LZ4, parameters=parameters)

    assert BackupCfg.decode(cfg.encode()).block_size == size


@pytest.mark.parametrize("text", ["-1", "x", "2Gi2", "1" * 5000, "68719476736"])
def test_a_block_size_that_cannot_be_is_damage(text):
    with pytest.raises(DamagedMetadata, match="block size"):
        BackupCfg.decode(b'{"Parameters":{"backup-block-size":"%s"}}' % text.encode())


def test_our_parameters_tell_block_size_mode_and_true_size():
    parameters = block_parameters(block_size=2 * MIB, true_size=5)

    assert parameters == {"backup-block-size": "2097152", "backup-mode": "incremental", "tidegate.dev/size": "5"}
    assert BackupCfg(name="b", volume_name="v", compression=Compression.LZ4, parameters=parameters).true_size == 5


@pytest.mark.parametrize("body", [b'{"Name":"lock-1","Type":"1"}', b'{"Name":"lock-1","Type":3}', b'{"Acquired":1}'])
def test_a_lock_of_an_unknown_kind_is_damaged(body):
    with pytest.raises(DamagedMetadata):
        LockFile.decode(body)


@given(NAMES, st.sampled_from(LockType), st.booleans())
def test_a_lock_comes_back_whole(name, lock_type, acquired):
    assert LockFile.decode(LockFile(name, lock_type, acquired).encode()) == LockFile(name, lock_type, acquired)

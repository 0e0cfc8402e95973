"""Whatever a store holds, reading it gives a value or the right error, in bounded memory."""

import gzip
import json
import tracemalloc

import lz4.frame
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidegate.errors import DamagedBlock, DamagedMetadata, InvalidInput, WrongKey
from tidegate.format.blocks.checksum import checksum, is_checksum
from tidegate.format.blocks.compression import Compression, compress, decompress
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.blocks.sealed_blocks import SealedBlocks
from tidegate.format.cfgs.backup_cfg import BackupCfg, BlockRef
from tidegate.format.cfgs.backup_url import BackupUrl
from tidegate.format.cfgs.lock_file import LockFile, LockType
from tidegate.format.cfgs.paths import is_name
from tidegate.format.cfgs.sealed_cfg import open_cfg, seal_cfg
from tidegate.format.cfgs.volume_cfg import VolumeCfg
from tidegate.format.trees.entry import TreeEntry, check_path
from tidegate.format.trees.manifest import decode_manifest, split_lines
from tidegate.format.trees.packed_tree import TreeMark, changed_files, shown_size

MIB = 1024 * 1024
KEY = EncryptionKey(bytes(32))
CFG = BackupCfg(
    name="backup-1",
    volume_name="vol",
    compression=Compression.LZ4,
    created_time="2026-01-01T00:00:00Z",
    labels={"a": "b"},
    parameters={"backup-block-size": "2097152", "tidegate.dev/size": "5"},
    blocks=(BlockRef(0, checksum(b"1")), BlockRef(2 * MIB, checksum(b"2"))),
)
VOLUME = VolumeCfg(name="vol", size=4 * MIB, compression=Compression.LZ4, last_backup_name="backup-1")
LOCK = LockFile("lock-0123456789abcdef", LockType.DELETION, acquired=True)
MANIFEST = b"".join(
    json.dumps(line).encode() + b"\n"
    for line in [
        {"path": ".", "type": "directory"},
        {"path": "a", "type": "directory", "mode": 493},
        {"path": "a/f", "type": "file", "size": 9, "extents": [[0, 9, 0]], "xattrs": {"user.x": "AAAA"}},
        {"path": "a/l", "type": "symlink", "target": "../../x"},
        {"path": "a/h", "type": "hardlink", "target": "a/f"},
    ]
)
PIECES = st.sampled_from(
    [
        b"",
        b"null",
        b"{}",
        b"[]",
        b'""',
        b"-1",
        b"1e999",
        b"9" * 30,
        b"true",
        b'"../.."',
        b"\\u0000",
        b"\xff",
        b"{",
        b"}",
        b'"',
    ]
)


@st.composite
def mutated(draw, body):
    """Valid bytes in which a few places were cut, doubled or overwritten."""
    for _ in range(draw(st.integers(1, 4))):
        begin, end = sorted(draw(st.tuples(*[st.integers(0, len(body))] * 2)))
        body = body[:begin] + draw(PIECES | st.binary(max_size=8) | st.just(body[begin:end] * 2)) + body[end:]
    return body


def anything_like(body):
    return st.binary(max_size=300) | mutated(body)


def read(decode, *errors):
    """The value, or None after one of the errors that may be told; anything else is raised."""
    try:
        return decode()
    except errors:
        return None


@given(anything_like(CFG.encode()))
@example(b'{"Parameters":{"backup-block-size":"999999999999999999M"}}')
@example(b'{"Blocks":[{"Offset":1e999}]}')
def test_a_backup_cfg_is_read_or_damaged(body):
    cfg = read(lambda: BackupCfg.decode(body), DamagedMetadata)

    if cfg is not None:
        assert all(is_checksum(ref.checksum) and ref.offset % cfg.block_size == 0 for ref in cfg.blocks)
        assert 0 < cfg.block_size <= 64 * MIB
        assert cfg.true_size is None or cfg.true_size >= 0
        assert BackupCfg.decode(cfg.encode()).blocks == cfg.blocks


@given(mutated(seal_cfg(CFG, KEY).encode()))
def test_a_sealed_cfg_opens_to_what_was_sealed_or_is_damaged(body):
    cfg = read(lambda: BackupCfg.decode(body), DamagedMetadata)

    if cfg is not None and "tidegate.dev/encryption" in cfg.parameters:
        opened = read(lambda: open_cfg(cfg, KEY, what="cfg"), DamagedMetadata, WrongKey)
        assert opened is None or (opened.blocks, opened.labels) == (CFG.blocks, CFG.labels)


@given(anything_like(VOLUME.encode()))
def test_a_volume_cfg_is_read_or_damaged(body):
    cfg = read(lambda: VolumeCfg.decode(body), DamagedMetadata)

    assert cfg is None or (not cfg.last_backup_name or is_name(cfg.last_backup_name))


@given(anything_like(LOCK.encode()))
def test_a_lock_is_read_or_damaged(body):
    lock = read(lambda: LockFile.decode(body), DamagedMetadata)

    assert lock is None or lock.type in set(LockType)


@pytest.mark.parametrize("decode", [BackupCfg.decode, VolumeCfg.decode, LockFile.decode])
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 10**6,
        b'{"a":' * 10**6,
        b'{"Size":' + b"9" * 10**6 + b"}",
        b'{"Type":1' + b"0" * 5000 + b"}",
        b"\xef\xbb\xbf{}",
        b"",
    ],
    ids=["lists", "objects", "digits", "type", "bom", "empty"],
)
def test_deep_nesting_and_huge_numbers_are_damage_and_not_the_end_of_the_process(decode, body):
    with pytest.raises(DamagedMetadata):
        decode(body)


def test_a_hundred_thousand_labels_are_read_in_memory_that_is_bounded_by_the_file():
    labels = ",".join(f'"label-{number}":"x"' for number in range(10**5))
    body = b'{"Name":"v","Labels":{%s}}' % labels.encode()
    cfg, peak = measured(lambda: VolumeCfg.decode(body))

    assert len(cfg.labels) == 10**5
    assert peak < 40 * len(body)


def measured(work):
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", Compression)
@given(data=st.data())
def test_a_block_is_read_or_damaged_and_never_larger_than_it_may_be(method, data):
    body = data.draw(anything_like(compress(b"block " * 50, method)))
    block = read(lambda: decompress(body, method, at_most=300), DamagedBlock)

    assert block is None or len(block) <= 300


@pytest.mark.parametrize(
    "bomb",
    [
        gzip.compress(bytes(64 * MIB), 9),
        lz4.frame.compress(bytes(64 * MIB)),
        lz4.frame.compress(bytes(64 * MIB), block_linked=False, store_size=True),
        gzip.compress(b"") * 10**5,
    ],
    ids=["gzip", "lz4", "lz4 with size", "empty members"],
)
@pytest.mark.parametrize("method", [Compression.LZ4, Compression.GZIP])
def test_a_bomb_never_takes_more_memory_than_a_few_blocks(bomb, method):
    def explode():
        with pytest.raises(DamagedBlock):
            decompress(bomb, method, at_most=2 * MIB)

    _, peak = measured(explode)

    assert peak < 16 * MIB


@given(st.binary(max_size=200))
def test_random_bytes_are_no_sealed_block(body):
    for start in (b"", b"TGE1"):
        with pytest.raises(DamagedBlock):
            SealedBlocks(KEY, volume="vol").unpack("0" * 64, start + body, Compression.LZ4, at_most=100)


URL = "s3://bucket@region/path?backup=backup-1&volume=vol&nfsOptions=soft"


@given(st.text(max_size=100) | mutated(URL.encode()).map(lambda body: body.decode("utf-8", "replace")))
@example("file://?volume=" + "a" * 10**6)
def test_a_url_is_read_or_refused_and_its_names_stay_in_their_directory(url):
    found = read(lambda: BackupUrl.decode(url), InvalidInput)

    if found is not None:
        assert is_name(found.volume)
        assert not found.backup or is_name(found.backup)
        assert BackupUrl.decode(found.encode()) == found


@given(anything_like(MANIFEST))
def test_a_manifest_is_read_or_damaged_and_no_path_leads_out(body):
    def decode() -> list[TreeEntry]:
        return list(decode_manifest(split_lines([body]), content_end=100))

    for entry in read(decode, DamagedMetadata) or []:
        check_path(entry.path)
        assert all(extent.image_offset + extent.length <= 100 for extent in entry.extents)


@pytest.mark.parametrize(
    "line", [b"[" * 10**6, b'{"path":' * 10**6, b'{"size":' + b"9" * 10**5 + b"}", b'{"path":1e999}']
)
def test_a_hostile_line_of_a_manifest_is_damage(line):
    with pytest.raises(DamagedMetadata):
        TreeEntry.decode(line, content_end=100)


@given(
    st.dictionaries(
        st.sampled_from([*sorted(TreeMark(0, 1, "0" * 64, 2).parameters()), "tidegate.dev/changed-files"]),
        st.text(max_size=30) | st.sampled_from(["tree", "1", "9" * 40, "[" * 5000, "\u0665"]),
    )
)
def test_the_mark_of_a_tree_is_read_or_damaged(parameters):
    mark = read(lambda: TreeMark.of(parameters, image_size=100), DamagedMetadata)

    assert mark is None or mark.manifest_offset + mark.manifest_length <= 100
    assert shown_size(parameters, image_size=100) >= 0
    assert all(isinstance(name, str) for name in changed_files(parameters))

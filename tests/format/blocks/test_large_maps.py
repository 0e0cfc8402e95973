"""Maps of very many blocks take few bytes, and say the same as any other."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import DamagedMetadata
from tidegate.format.blocks.block_map import BlockMap
from tidegate.format.blocks.checksum import checksum
from tidegate.format.blocks.checksum_set import ChecksumSet
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.backup_cfg import MIB, BackupCfg, BlockRef
from tidegate.format.cfgs.blocks_json import PLACEHOLDER, cut_blocks

MANY = 20_000
SUM = checksum(b"1")


def refs(count):
    return tuple(BlockRef(number * 2 * MIB, checksum(b"%d" % number)) for number in range(count))


def cfg(blocks, **fields):
    return BackupCfg(name="backup-1", volume_name="shop", compression=Compression.LZ4, blocks=blocks, **fields)


def peak_of(work):
    tracemalloc.start()
    try:
        result = work()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_reading_a_large_cfg_takes_little_more_than_its_blocks_do():
    body = cfg(refs(MANY)).encode()

    decoded, peak = peak_of(lambda: BackupCfg.decode(body))

    assert decoded.blocks == refs(MANY)
    assert peak < MANY * 64


def test_writing_a_large_cfg_takes_little_more_than_the_file():
    decoded = BackupCfg.decode(cfg(refs(MANY)).encode())

    body, peak = peak_of(decoded.encode)

    assert body == cfg(refs(MANY)).encode()
    assert peak < len(body) * 1.5 + MIB


@given(st.dictionaries(st.integers(0, 99), st.binary(max_size=2), max_size=9), st.integers(0, 3))
def test_a_cfg_says_the_same_however_its_json_is_laid_out(contents, indent):
    blocks = [BlockRef(number * 2 * MIB, checksum(contents[number])) for number in sorted(contents)]
    usual = cfg(blocks).encode()

    assert BackupCfg.decode(json.dumps(json.loads(usual), indent=indent).encode()) == BackupCfg.decode(usual)
    assert BackupCfg.decode(usual).blocks == blocks


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        ('{"Inner":{"Blocks":[ONE]},"Blocks":[TWO]}', ["TWO"]),
        ('{"Inner":{"Blocks":[ONE]}}', []),
        ('{"Blocks":[ONE],"blocks":[TWO]}', ["TWO"]),
        ('{"Blocks":[ONE],"Blocks":null}', []),
        ('{"Labels":{"a":"the blocks"},"Blocks":[ONE]}', ["ONE"]),
        ('{"Labels":{"x,\\"Blocks":"1"},"Blocks":[TWO,ONE]}', ["ONE", "TWO"]),
        ('{"SingleFile":{"FilePath":"the blocks"},"Blocks":[ONE]}', ["ONE"]),
        ('{"Blocks":[]}', []),
    ],
)
def test_only_the_blocks_of_the_cfg_itself_count(body, blocks):
    known = {"ONE": BlockRef(0, SUM), "TWO": BlockRef(2 * MIB, SUM)}
    for word, ref in known.items():
        body = body.replace(word, json.dumps({"Offset": ref.offset, "BlockChecksum": SUM}, separators=(",", ":")))

    assert BackupCfg.decode(body.encode()).blocks == tuple(known[word] for word in blocks)


@pytest.mark.parametrize("rest", ["", "]", ",]", ",{}]"])
def test_a_cfg_that_ends_within_its_blocks_or_oddly_is_damaged(rest):
    body = cfg(refs(2)).encode()
    broken = body[: body.rindex(b"}]") + 1] + rest.encode()

    with pytest.raises(DamagedMetadata):
        BackupCfg.decode(broken)


def test_labels_that_look_like_blocks_stay_labels():
    odd = cfg(refs(2), labels={"Blocks": PLACEHOLDER}, single_file=PLACEHOLDER)

    assert BackupCfg.decode(odd.encode()) == odd
    assert cut_blocks(odd.encode()) is None


def test_a_block_map_is_a_sequence_like_any_other():
    blocks = BlockMap.of(refs(5))

    assert (blocks[0], blocks[-1], blocks[1:3], len(blocks)) == (refs(5)[0], refs(5)[-1], refs(5)[1:3], 5)
    assert list(blocks) == list(refs(5))
    assert blocks == refs(5) == blocks
    assert blocks != refs(4)
    assert hash(blocks) == hash(BlockMap.of(refs(5)))
    with pytest.raises(IndexError):
        blocks[5]


CHECKSUMS = st.tuples(st.sampled_from(["0000", "ffff"]), st.text("0f", min_size=60, max_size=60)).map("".join)


@given(st.lists(st.tuples(CHECKSUMS, st.integers(0, 2**33)), max_size=40), st.lists(CHECKSUMS, max_size=10))
def test_a_checksum_set_agrees_with_a_dict(entries, others):
    expected, actual = {}, ChecksumSet()
    for name, number in entries:
        assert actual.add(name, number) == (name not in expected)
        expected.setdefault(name, min(number, 2**32 - 1))

    assert len(actual) == len(expected)
    assert set(actual) == set(expected)
    for name in [*others, *expected]:
        assert (name in actual, actual.number(name)) == (name in expected, expected.get(name))


def test_a_checksum_set_is_small():
    names = [checksum(b"%d" % number) for number in range(MANY)]

    def fill():
        found = ChecksumSet()
        for name in names:
            found.add(name, 1)
        return found

    assert peak_of(fill)[1] < MANY * 200  # the heaps of so few have one entry each

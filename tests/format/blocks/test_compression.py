import random

import lz4.frame
import pytest

from tidegate.errors import DamagedBlock
from tidegate.format.blocks.compression import Compression, compress, decompress

BLOCK = random.Random(1).randbytes(100_000) + bytes(100_000) + b"the quick brown fox " * 5_000


@pytest.mark.parametrize("method", Compression)
def test_a_block_comes_back(method):
    assert decompress(compress(BLOCK, method), method, at_most=len(BLOCK)) == BLOCK


def test_an_lz4_body_is_framed_as_longhorn_does_it_but_for_a_second_checksum():
    assert compress(bytes(2 * 1024 * 1024), Compression.LZ4)[:6].hex() == "04224d186070"


def test_a_body_with_a_checksum_of_its_content_is_read_as_before():
    body = lz4.frame.compress(BLOCK, content_checksum=True)

    assert decompress(body, Compression.LZ4, at_most=len(BLOCK)) == BLOCK


def test_a_gzip_body_holds_no_time():
    assert compress(BLOCK, Compression.GZIP)[4:8] == bytes(4)


@pytest.mark.parametrize("method", Compression)
def test_more_than_a_block_is_refused(method):
    with pytest.raises(DamagedBlock, match="more than"):
        decompress(compress(BLOCK, method), method, at_most=len(BLOCK) - 1)


@pytest.mark.parametrize("method", [Compression.LZ4, Compression.GZIP])
def test_a_bomb_is_refused_before_it_goes_off(method):
    bomb = compress(bytes(64 * 1024 * 1024), method)

    with pytest.raises(DamagedBlock, match="more than"):
        decompress(bomb, method, at_most=1024)


@pytest.mark.parametrize(("wrote", "says"), [(Compression.LZ4, Compression.GZIP), (Compression.GZIP, Compression.LZ4)])
def test_a_volume_that_mixes_lz4_and_gzip_can_be_read(wrote, says):
    assert decompress(compress(BLOCK, wrote), says, at_most=len(BLOCK)) == BLOCK


@pytest.mark.parametrize("method", [Compression.LZ4, Compression.GZIP])
def test_several_parts_are_one_block_and_endless_parts_are_none(method):
    part = compress(b"ab", method)

    assert decompress(part + part, method, at_most=4) == b"abab"
    with pytest.raises(DamagedBlock, match="too many parts"):
        decompress(compress(b"", method) * 1000, method, at_most=4)


@pytest.mark.parametrize("method", [Compression.LZ4, Compression.GZIP])
@pytest.mark.parametrize("spoil", [lambda body: body[:-3], lambda body: body + b"xx", lambda _: b"", lambda _: b"junk"])
def test_a_spoilt_body_is_damage(method, spoil):
    with pytest.raises(DamagedBlock):
        decompress(spoil(compress(BLOCK, method)), method, at_most=len(BLOCK))

"""Every implementation of VolumeSource keeps the same promise."""

from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from tidegate.errors import SourceUnreadable
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.model.volumes.volume_ref import Image
from tidegate.ports.volume_data import VolumeSource
from tidegate.volumes.images.image import ImageSource
from tidegate.volumes.trees.directory import DirectorySource

LONG_AFTER = datetime(2100, 1, 1, tzinfo=UTC)
CONTENT = b"what the volume holds" * 1000


def an_image(tmp_path):
    path = tmp_path / "volume"
    with path.open("wb") as file:
        file.write(CONTENT)
        file.truncate(3 * BLOCK + 5)
    return lambda: ImageSource(Image(str(path)))


def a_tree(tmp_path):
    path = tmp_path / "volume"
    (path / "etc").mkdir(parents=True)
    (path / "etc" / "large").write_bytes(CONTENT * 200)
    (path / "small").write_bytes(CONTENT)
    return lambda: DirectorySource(str(path), block_size=BLOCK, settled_before=LONG_AFTER, still_wanted=lambda: None)


IMPLEMENTATIONS: dict[type[VolumeSource], object] = {ImageSource: an_image, DirectorySource: a_tree}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def open_source(request, tmp_path):
    return IMPLEMENTATIONS[request.param](tmp_path)


def read(source):
    """Everything as an upload reads it, and the ranges of each round."""
    source.begin_reading()
    pieces, rounds = {}, []
    for ranges in source.rounds():
        rounds.append(list(ranges))
        for offset, length in rounds[-1]:
            pieces[offset] = source.read_at(offset, length)
    whole = bytearray(source.size)
    for offset, piece in pieces.items():
        whole[offset : offset + len(piece)] = piece
    return bytes(whole[: source.size]), rounds


@contextmanager
def no_new_open_files():
    before = len(list(Path("/proc/self/fd").iterdir()))
    yield
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_ranges_ascend_do_not_overlap_and_no_block_is_in_two_rounds(open_source):
    with open_source() as source:
        _, rounds = read(source)

    blocks = [{offset // BLOCK for one in ranges for offset in range(one[0], sum(one), 512)} for ranges in rounds]
    assert all(left[0] + left[1] <= right[0] for ranges in rounds for left, right in pairwise(ranges))
    assert sum(map(len, blocks)) == len(set().union(*blocks))


def test_two_readings_give_the_same_bytes_and_the_content_is_among_them(open_source):
    with open_source() as one:
        first, _ = read(one)
    with open_source() as other:
        again, _ = read(other)

    assert first == again
    assert CONTENT in first


def test_what_is_outside_of_the_rounds_reads_as_zeros(open_source):
    with open_source() as source:
        whole, rounds = read(source)
        covered = [range(start, start + length) for ranges in rounds for start, length in ranges]
        for offset in range(0, source.size, BLOCK // 2):
            if not any(offset in one for one in covered):
                assert whole[offset] == 0


def test_behind_the_end_are_zeros(open_source):
    with open_source() as source:
        read(source)

        assert source.read_at(source.size + BLOCK, 10) == bytes(10)


def test_size_parameters_and_warnings_are_known_after_the_last_round(open_source):
    with open_source() as source:
        whole, _ = read(source)

        assert len(whole) == source.size >= source.shown_size > 0
        assert source.bytes_to_read > 0
        assert all(isinstance(key, str) and isinstance(text, str) for key, text in source.cfg_parameters.items())
        assert (source.snapshot, list(source.left_out)) == ("none", [])
        assert all(isinstance(sentence, str) for sentence in source.warnings())
        assert list(source.kept_blocks()) == []


def test_leaving_it_closes_every_file(open_source):
    with no_new_open_files(), open_source() as source:
        read(source)


def test_a_volume_that_is_not_there_cannot_be_opened(open_source, tmp_path):
    Path(tmp_path / "volume").rename(tmp_path / "elsewhere")

    with pytest.raises(SourceUnreadable), open_source():
        pass

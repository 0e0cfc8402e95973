import random

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.paths import block_key

VOLUME = "shop.db"


@pytest.fixture
def blocks_of():
    """A function: the blocks of an image, each named by a letter, by offset."""

    def make(letters):
        return {
            number * BLOCK: random.Random(letter).randbytes(64).ljust(BLOCK, b"\0")
            for number, letter in enumerate(letters)
        }

    return make


@pytest.fixture
def assert_whole(blocks_of):
    """A function: what was told to be done is in the store, and whatever is finished there is whole."""
    good = {}  # bodies that were read and found right; to compare them is quicker than to read them again

    def read(volume, ref, cfg):
        body = volume.objects.get(block_key(VOLUME, ref.checksum), at_most=2 * BLOCK) if ref.checksum in good else None
        if body is None or good[ref.checksum][0] != body:
            block = volume.read_block(ref, cfg)
            good[ref.checksum] = volume.objects.get(block_key(VOLUME, ref.checksum), at_most=2 * BLOCK), block
        return good[ref.checksum][1]

    def check(store, letters_of, done):
        volume = StoredVolume(store, VOLUME)
        cfgs = {name: volume.backup_cfg(name) for name in volume.backup_names()}
        finished = {name: cfg for name, cfg in cfgs.items() if not cfg.in_progress}
        assert done <= finished.keys()
        for name, cfg in finished.items():
            assert {ref.offset: read(volume, ref, cfg) for ref in cfg.blocks} == blocks_of(letters_of[name]), name

    return check

"""What a seal hides, what it binds together, and what opens it."""

import base64
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import DamagedBlock, DamagedMetadata, InvalidInput, WrongKey
from tidegate.format.blocks.block_codec import PlainBlocks
from tidegate.format.blocks.checksum import checksum, is_checksum
from tidegate.format.blocks.compression import Compression, compress
from tidegate.format.blocks.encryption_key import KEY, KEY_FILE, EncryptionKey, key_in
from tidegate.format.blocks.sealed_blocks import OVERHEAD_BYTES, SealedBlocks
from tidegate.format.cfgs.backup_cfg import BackupCfg, BlockRef
from tidegate.format.cfgs.sealed_cfg import check_key, open_cfg, seal_cfg

SECRET = bytes(range(32))
ONE, OTHER = EncryptionKey(SECRET), EncryptionKey(bytes(32))
SEALED = SealedBlocks(ONE, volume="vol")
LZ4 = Compression.LZ4
BLOCK = b"a secret of the shop " * 1000
CFG = BackupCfg(
    name="backup-1",
    volume_name="vol",
    compression=LZ4,
    created_time="2026-01-01T00:00:00Z",
    labels={"a": "b"},
    parameters={"tidegate.dev/size": "5", "tidegate.dev/changed-files": '["salaries.ods"]', "new": "unknown"},
    blocks=(BlockRef(0, checksum(b"1")), BlockRef(2 * 1024 * 1024, checksum(b"2"))),
)


@pytest.mark.parametrize("text", [SECRET.hex(), SECRET.hex().upper(), base64.b64encode(SECRET).decode() + "\n"])
def test_a_key_is_written_as_hex_or_base64(text):
    assert key_in({KEY: text}) == ONE


@pytest.mark.parametrize("text", ["", "secret", SECRET.hex()[2:], base64.b64encode(SECRET[1:]).decode(), "ä" * 64])
def test_what_is_no_key_is_refused_without_being_repeated(text):
    with pytest.raises(InvalidInput, match="32 bytes") as refusal:
        EncryptionKey.parse(text)
    assert not text or text not in str(refusal.value)


def test_a_key_is_never_shown_and_one_that_was_meant_is_never_left_out():
    assert SECRET.hex()[:8] not in repr(ONE)
    assert repr(SECRET)[2:10] not in repr(ONE)
    assert key_in({}) is None
    with pytest.raises(InvalidInput):
        key_in({KEY_FILE: "/key"})
    with pytest.raises(InvalidInput):
        key_in({KEY: ""})


def test_keys_for_different_purposes_and_volumes_differ():
    keys = {key.sub_key(purpose, volume=volume) for key in (ONE, OTHER) for purpose in "ab" for volume in ("v1", "v2")}

    assert len(keys) == 8


def test_names_are_the_same_for_the_same_content_and_only_under_the_same_key_and_volume():
    names = [codec.names([BLOCK])[0] for codec in (SEALED, SealedBlocks(ONE, volume="vol"))]
    others = [
        SealedBlocks(OTHER, volume="vol").names([BLOCK])[0],
        SealedBlocks(ONE, volume="v2").names([BLOCK])[0],
        checksum(BLOCK),
    ]

    assert names[0] == names[1]
    assert len({names[0], *others}) == 4
    assert is_checksum(names[0])


@pytest.mark.parametrize("method", Compression)
@pytest.mark.parametrize("codec", [SEALED, PlainBlocks()])
def test_a_block_comes_back_through_its_codec(codec, method):
    name = codec.names([BLOCK])[0]

    assert codec.unpack(name, codec.encode(name, BLOCK, method), method, at_most=len(BLOCK)) == BLOCK


def test_a_body_shows_nothing_of_the_block_and_is_hardly_longer():
    body = SEALED.encode(SEALED.names([BLOCK])[0], BLOCK, Compression.NONE)

    assert b"secret" not in body
    assert len(body) == len(BLOCK) + OVERHEAD_BYTES


def test_a_nonce_comes_twice_only_for_the_same_bytes():
    name = SEALED.names([BLOCK])[0]
    bodies = [SEALED.encode(name, BLOCK, method) for method in (LZ4, LZ4, Compression.GZIP, Compression.NONE)]

    assert bodies[0] == bodies[1]
    assert len({body[4:16] for body in bodies}) == 3


@given(st.data())
def test_a_body_with_any_byte_changed_or_cut_is_damage(data):
    name = SEALED.names([BLOCK])[0]
    body = bytearray(SEALED.encode(name, BLOCK, LZ4))
    place = data.draw(st.integers(0, len(body) - 1))
    changed = (
        bytes(body[:place]) if data.draw(st.booleans()) else bytes([*body[:place], body[place] ^ 1, *body[place + 1 :]])
    )

    with pytest.raises(DamagedBlock):
        SEALED.unpack(name, changed, LZ4, at_most=len(BLOCK))


def test_blocks_cannot_be_swapped_or_come_from_elsewhere():
    name, other = SEALED.names([BLOCK])[0], SEALED.names([b"other"])[0]

    for body in (
        SEALED.encode(other, b"other", LZ4),
        SealedBlocks(ONE, volume="v2").encode(name, BLOCK, LZ4),
        SealedBlocks(OTHER, volume="vol").encode(name, BLOCK, LZ4),
        compress(BLOCK, LZ4),
    ):
        with pytest.raises(DamagedBlock):
            SEALED.unpack(name, body, LZ4, at_most=len(BLOCK))


def test_what_was_sealed_under_the_name_of_another_block_shows_by_its_own_name():
    name = SEALED.names([BLOCK])[0]

    unpacked = SEALED.unpack(name, SEALED.encode(name, b"other", LZ4), LZ4, at_most=len(BLOCK))

    assert SEALED.names([unpacked]) != [name]


def test_a_sealed_bomb_is_refused_before_it_goes_off():
    name = SEALED.names([BLOCK])[0]

    with pytest.raises(DamagedBlock, match="more than"):
        SEALED.unpack(name, SEALED.encode(name, bytes(64 * 1024 * 1024), LZ4), LZ4, at_most=len(BLOCK))


def test_a_stored_cfg_hides_what_tells_of_the_content_and_keeps_the_rest_readable():
    stored = seal_cfg(CFG, ONE)

    assert b"salaries" not in stored.encode()
    assert "new" not in stored.parameters
    assert (stored.labels, stored.blocks, stored.true_size) == (CFG.labels, CFG.blocks, 5)
    assert seal_cfg(open_cfg(stored, ONE, what="cfg"), ONE) == stored


def test_a_cfg_comes_back_through_its_bytes():
    opened = open_cfg(BackupCfg.decode(seal_cfg(CFG, ONE).encode()), ONE, what="cfg")

    assert {name: opened.parameters[name] for name in CFG.parameters} == CFG.parameters


@pytest.mark.parametrize(
    "changes",
    [
        {"blocks": CFG.blocks[:1]},
        {"blocks": tuple(BlockRef(ref.offset, checksum(b"1")) for ref in CFG.blocks)},
        {"name": "backup-2"},
        {"volume_name": "v2"},
        {"labels": {}},
        {"created_time": "2027-01-01T00:00:00Z"},
        {"compression": Compression.NONE},
    ],
)
def test_a_cfg_that_was_changed_is_damage(changes):
    with pytest.raises(DamagedMetadata, match="changed"):
        open_cfg(replace(seal_cfg(CFG, ONE), **changes), ONE, what="cfg")


@pytest.mark.parametrize("seal", ["", "!", "AAAA", base64.b64encode(bytes(100)).decode(), "ä"])
def test_a_seal_that_is_none_is_damage(seal):
    stored = seal_cfg(CFG, ONE)

    with pytest.raises(DamagedMetadata, match="changed"):
        open_cfg(replace(stored, parameters={**stored.parameters, "tidegate.dev/seal": seal}), ONE, what="cfg")


def test_no_key_or_another_one_is_told_in_a_sentence():
    stored = seal_cfg(CFG, ONE)

    check_key(stored, ONE)
    check_key(CFG, None)
    with pytest.raises(WrongKey, match=f"backup-1 of volume vol is encrypted with key {ONE.id}, and no key was given"):
        check_key(stored, None)
    with pytest.raises(WrongKey, match=f"the key given is {OTHER.id}"):
        check_key(stored, OTHER)


@pytest.mark.parametrize("mark", ["", "aes-256-gcm-v2:0123456789abcdef", "x" * 1000, "aes-256-gcm-v1:short"])
def test_a_scheme_that_nobody_knows_is_damage(mark):
    with pytest.raises(DamagedMetadata, match="does not know"):
        check_key(replace(CFG, parameters={"tidegate.dev/encryption": mark}), ONE)

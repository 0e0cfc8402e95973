"""The object by which a store is known again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.format.cfgs.paths import VOLUMES
from tidegate.format.cfgs.store_identity import LARGEST_IDENTITY, STORE_IDENTITY, decode_identity, encode_identity

NAME = "0b8f1a52-6f3e-4a52-9f0e-3f0b6d2d8f11"


def test_what_is_written_is_read():
    assert decode_identity(encode_identity(NAME)) == NAME


def test_it_lies_where_nobody_looks_for_volumes():
    assert STORE_IDENTITY.startswith("backupstore/")
    assert not STORE_IDENTITY.startswith(VOLUMES)


def test_it_tells_a_person_what_it_is_for():
    assert "Tidegate" in json.loads(encode_identity(NAME))["about"]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"identity": 7}', b'{"identity": ""}', b'{"identity": "a\\nb"}', b"\xff", b"[" * 4000]
)
def test_what_cannot_be_understood_is_an_identity_of_its_own(body):
    found = decode_identity(body)

    assert found.startswith("unreadable-")
    assert found == decode_identity(body)
    assert found != decode_identity(body + b" ")


@given(st.binary(max_size=LARGEST_IDENTITY))
def test_no_bytes_are_without_an_identity(body):
    assert decode_identity(body)

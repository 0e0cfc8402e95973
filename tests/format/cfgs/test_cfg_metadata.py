"""What a cfg says besides its blocks, from as few bytes as possible."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import DamagedMetadata
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.backup_cfg import BackupCfg, BlockRef, block_parameters
from tidegate.format.cfgs.cfg_metadata import HEAD, TAIL, head_metadata, read_head, whole_metadata, with_tail
from tidegate.format.cfgs.label_subject import subject_of
from tidegate.model.stores.catalogue import BackupState, Subject

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MIB = 1024 * 1024


def a_cfg(blocks=3, labels=None):
    return BackupCfg(
        name="backup-1",
        volume_name="vol",
        compression=Compression.LZ4,
        snapshot_created_at="2025-12-31T00:00:00Z",
        created_time="2025-12-31T00:00:01Z",
        labels=labels or {"app": 'shop "1" \u00e9', "Blocks": '"Blocks":[{'},
        parameters=block_parameters(block_size=2 * MIB, true_size=7),
        blocks=[BlockRef(number * 2 * MIB, f"{number:064x}") for number in range(blocks)],
    )


def test_the_first_bytes_tell_the_same_as_the_whole_cfg():
    body = a_cfg(blocks=5000).encode()
    head = read_head(body[:HEAD], what="cfg")

    assert (head.enough, head.met_blocks) == (True, True)
    assert len(body) > 10 * HEAD
    assert head_metadata(head, name="backup-1", now=NOW) == whole_metadata(body, name="backup-1", now=NOW)


def test_fields_behind_the_blocks_are_found_at_the_end():
    written = json.loads(a_cfg(blocks=2000).encode())
    body = json.dumps({"Blocks": written.pop("Blocks"), **written}).encode()
    head = read_head(body[:HEAD], what="cfg")
    assert not head.enough

    whole = with_tail(head, body[-TAIL:], what="cfg")

    assert whole.enough
    assert head_metadata(whole, name="backup-1", now=NOW) == whole_metadata(body, name="backup-1", now=NOW)


@pytest.mark.parametrize("body", [b"", b"[]", b"nothing", b"\xff\xfe", b"\x00" * 100, b'"text"'])
def test_what_begins_no_object_is_damaged(body):
    with pytest.raises(DamagedMetadata):
        read_head(body, what="cfg")


@pytest.mark.parametrize(
    "bomb", [b'{"a":' * 20_000, b"{" * 30_000, b'{"Labels":' + b"[" * 30_000, b'{"Name":"' + b"x" * 30_000]
)
def test_a_bomb_ends_as_a_head_without_what_matters(bomb):
    assert not read_head(bomb[:HEAD], what="cfg").enough


@given(st.binary(max_size=300), st.integers(0, 700))
def test_no_bytes_do_more_than_raise_damaged_metadata(noise, cut):
    body = a_cfg().encode()
    for text in (noise, body[:cut], body[:cut] + noise):
        try:
            head = read_head(text, what="cfg")
            head_metadata(with_tail(head, noise, what="cfg"), name="backup-1", now=NOW)
        except DamagedMetadata:
            continue


def test_doubtful_times_and_names_are_told_and_kept():
    future = a_cfg().encode().replace(b'"CreatedTime":"2025', b'"CreatedTime":"9025')
    record = whole_metadata(future, name="backup-1", now=NOW).record
    assert "in the future" in record.messages["warning"]
    assert record.created_at.year == 9025

    nonsense = a_cfg().encode().replace(b"2025-12-31T00:00:01Z", b"yesterday")
    record = whole_metadata(nonsense, name="backup-1", now=NOW).record
    assert (record.state, record.created_at) == (BackupState.COMPLETED, None)
    assert "yesterday" in record.messages["warning"]

    assert "'backup-1'" in whole_metadata(a_cfg().encode(), name="other", now=NOW).record.messages["warning"]


def test_labels_without_end_are_damage():
    with pytest.raises(DamagedMetadata, match="labels"):
        whole_metadata(a_cfg(labels={"a": "x" * 100_000}).encode(), name="backup-1", now=NOW)


KUBERNETES = {
    "namespace": "shop",
    "pvcName": "data-db-0",
    "workloadsStatus": [
        {"podName": "db-1", "workloadName": "db"},
        {"podName": "db-0", "workloadName": "db"},
        "nonsense",
    ],
}


@pytest.mark.parametrize(
    ("labels", "subject"),
    [
        ({"KubernetesStatus": json.dumps(KUBERNETES)}, Subject("shop", "data-db-0", "db", "db-0 db-1")),
        ({"tidegate.dev/namespace": "ns", "tidegate.dev/volume": "vol"}, Subject("ns", "vol")),
        ({"KubernetesStatus": "{"}, Subject()),
        ({"KubernetesStatus": "[" * 100_000}, Subject()),
        ({"KubernetesStatus": '{"namespace": 7, "workloadsStatus": {}}'}, Subject()),
        ({}, Subject()),
    ],
)
def test_labels_tell_whose_data_it_is(labels, subject):
    assert subject_of(labels) == subject

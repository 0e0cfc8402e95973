"""The one picture of the load, and how it reads."""

from dataclasses import replace

import pytest

from tidegate.decide.transfers.entry import TransferEntry
from tidegate.model.reasons import Reason
from tidegate.model.resource import Metadata
from tidegate.model.setting import effective_settings
from tidegate.model.transfers.load import parse_load_concurrency
from tidegate.model.transfers.load_status import PrepareQueue, RestoreSlots
from tidegate.model.transfers.node import Node, NodeLoad, NodeSpec, NodeStatus
from tidegate.model.transfers.transfer import DataDownload, DataUpload, PodVolumeBackup, PodVolumeRestore, TransferPhase
from tidegate.testing.resources.builders import THEN, a_transfer
from tidegate.views.reader import Reader
from tidegate.views.transfers.load import LoadRow
from tidegate.views.transfers.load import load_status as status_of_rows
from tidegate.views.transfers.load_words import LOADED_NODES, describe_load, load_changes
from tidegate.views.transfers.node import NODES, describe_node

P = TransferPhase
READER = Reader(now=THEN)
SLOW_RULE = '{"globalConfig": 3, "perNodeConfig": [{"nodeSelector": {"matchLabels": {"disk": "slow"}}, "number": 1}]}'


def settings(load="{}", restores=5):
    return replace(effective_settings([]), load_concurrency=parse_load_concurrency(load), concurrent_restores=restores)


def row_of(transfer):
    entry = TransferEntry.of(transfer)
    return LoadRow(entry.phase, entry.restore, entry.node, entry.why[0])


def load_status(transfers, nodes, given):
    return status_of_rows(map(row_of, transfers), nodes, given)


def a_node(name, *, slots=None, ready=True, **labels):
    return Node(metadata=Metadata(name=name, labels=labels), spec=NodeSpec(slots=slots), status=NodeStatus(ready=ready))


def held(name, reason, phase=P.NEW, **more):
    transfer = a_transfer(name, phase, **more)
    return transfer.replace(status=transfer.status.waiting(reason, "because", since=THEN))


def told(sections):
    return {(section.heading, label): value for section in sections for label, value in section.lines}


def test_each_node_tells_what_it_carries_and_which_number_limits_it():
    transfers = [
        a_transfer("t1", P.IN_PROGRESS, node="a"),
        a_transfer("t2", P.CANCELING, node="a", kind=PodVolumeRestore),
        a_transfer("t3", P.ACCEPTED, node="a", kind=PodVolumeBackup),
        a_transfer("t4", P.PREPARED, node="b"),
        a_transfer("t5", P.COMPLETED, node="b"),
        a_transfer("t6"),
    ]
    nodes = [a_node("b", disk="slow"), a_node("a", slots=2), a_node("gone", ready=False)]

    status = load_status(transfers, nodes, settings(SLOW_RULE))

    assert [(node.name, node.ready, node.load) for node in status.nodes] == [
        ("a", True, NodeLoad(running=2, preparing=1, limit=2, limited_by="slots of the node")),
        ("b", True, NodeLoad(running=0, preparing=1, limit=1, limited_by="perNodeConfig[0] disk=slow")),
        ("gone", False, NodeLoad(running=0, preparing=0, limit=3, limited_by="globalConfig")),
    ]


def test_the_prepare_queue_is_split_into_backups_and_restores():
    transfers = [
        a_transfer("t1", P.ACCEPTED),
        a_transfer("t2", P.PREPARED, kind=PodVolumeBackup),
        a_transfer("t3", P.PREPARED, kind=DataDownload),
        a_transfer("t4", P.IN_PROGRESS),
    ]

    status = load_status(transfers, [], settings('{"prepareQueueLength": 4, "restoreShare": 2}'))

    assert status.prepare_queue == PrepareQueue(length=4, backups=2, restores=1, restore_share=2)
    assert told(describe_load(status))["Prepare queue", "In use"] == "3 of 4 (2 backups, 1 restore)"
    assert told(describe_load(status))["Prepare queue", "Kept for restores"] == "2 places ahead of a node's turn"


@pytest.mark.parametrize("load", ["{}", '{"prepareQueueLength": 0}', '{"prepareQueueLength": -3}'])
def test_an_unconstrained_prepare_queue_says_so_and_keeps_nothing(load):
    lines = told(describe_load(load_status([a_transfer("t", P.ACCEPTED)], [], settings(load))))

    assert lines["Prepare queue", "In use"] == "1, unconstrained (1 backup, 0 restores)"
    assert ("Prepare queue", "Kept for restores") not in lines


def test_a_restore_holds_its_slot_from_accepted_until_it_has_ended():
    phases = [P.NEW, P.ACCEPTED, P.PREPARED, P.IN_PROGRESS, P.CANCELING, P.COMPLETED, P.FAILED, P.CANCELED]
    transfers = [a_transfer(f"t{number}", phase, kind=DataDownload) for number, phase in enumerate(phases)]

    status = load_status([*transfers, a_transfer("upload", P.IN_PROGRESS)], [], settings(restores=7))

    assert status.restores == RestoreSlots(in_use=4, limit=7)
    assert told(describe_load(status))["Restores", "In progress"] == "4 of 7"


def test_paused_restores_are_told_as_paused():
    lines = told(describe_load(load_status([], [], settings(restores=0))))

    assert lines["Restores", "In progress"] == "0; no more begin, because concurrent-backup-restore-limit is 0"


def test_restores_of_which_nothing_has_begun_are_told_though_none_of_their_volumes_waits_yet():
    status = status_of_rows([], [], settings(restores=0), restores_queued=2)

    assert told(describe_load(status))["Restores", "Not begun"] == "2 restores; why: tidegate restore get"
    assert ("Restores", "Not begun") not in told(describe_load(load_status([], [], settings())))


def test_those_who_wait_are_counted_by_phase_and_reason():
    transfers = [
        held("t1", Reason.PREPARE_QUEUE_FULL),
        held("t2", Reason.PREPARE_QUEUE_FULL, kind=DataDownload),
        held("t3", Reason.PREPARE_QUEUE_FULL, kind=PodVolumeBackup),
        held("t4", Reason.RESTORE_LIMIT, kind=PodVolumeRestore),
        held("t5", Reason.NODE_LOAD, P.PREPARED, node="a"),
        a_transfer("t6"),
        a_transfer("t7", P.PREPARED, node="a"),
        held("t8", Reason.NODE_LOAD, P.FAILED),
    ]

    lines = told(describe_load(load_status(transfers, [], settings())))

    assert {label: value for (heading, label), value in lines.items() if heading == "Waiting"} == {
        "New, PendingEvaluation": "1 backup, 0 restores",
        "New, PrepareQueueFull": "2 backups, 1 restore",
        "New, RestoreLimit": "0 backups, 1 restore",
        "Prepared, NodeLoad": "1 backup, 0 restores",
    }


def test_what_another_configuration_changes_is_told_limit_by_limit():
    nodes = [a_node("a"), a_node("b", disk="slow")]
    before = load_status([], nodes, settings('{"prepareQueueLength": 4}'))
    after = load_status([], nodes, settings(SLOW_RULE))

    assert load_changes(before, after) == [
        "node a: 2 (default: 1 backup, 1 restore) -> 3 (globalConfig)",
        "node b: 2 (default: 1 backup, 1 restore) -> 1 (perNodeConfig[0] disk=slow)",
        "prepare queue: 4 -> unconstrained",
    ]
    assert load_changes(before, before) == []


def test_a_node_is_a_row_with_its_load():
    status = load_status(
        [a_transfer("t", P.IN_PROGRESS, node="a", kind=DataUpload)], [a_node("a", slots=4)], settings()
    )

    (row,) = LOADED_NODES.rows(status.nodes, READER, wide=True)

    assert [cell.text for cell in row] == ["a", "Ready", "1", "0", "2", "default: 1 backup, 1 restore", "4"]


def test_a_described_node_tells_its_slots_labels_and_load():
    carried = NodeLoad(running=1, preparing=2, limit=3, limited_by="globalConfig")
    node = a_node("a", slots=4, disk="slow").with_status(load=carried)

    lines = told(describe_node(node, READER))

    assert (lines["Node", "Slots"], lines["Node", "Labels"], lines["Node", "Status"]) == ("4", "disk=slow", "Ready")
    assert (lines["Load", "Running"], lines["Load", "Preparing"]) == ("1 of 3", "2")
    assert [cell.text for cell in NODES.row(node, READER, wide=False)][:4] == ["a", "Ready", "1/3", "4"]


def test_a_node_of_an_older_server_has_no_load_to_tell():
    assert [section.heading for section in describe_node(a_node("a"), READER)] == ["Node"]

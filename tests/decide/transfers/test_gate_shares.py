"""Which slots and places are kept: for restores, and for nodes that have room."""

import pytest

from decide.gate_plans import (  # type: ignore[import-not-found]  # pytest has tests/ on its path
    P,
    a_download,
    a_transfer,
    accepted,
    around,
    started,
    told,
)
from tidegate.decide.transfers.restore_limit import ASKED_ANNOTATION, IN_PROGRESS
from tidegate.testing.resources.builders import a_node

SHARES = [
    (2, "a backup for a full node leaves the share of restores", [], ["u"], []),
    (3, "it goes once there is more room", [], ["u"], ["u"]),
    (2, "a restore for a full node takes its share", [], ["r"], ["r"]),
    (2, "but not the place of others whose node has room", ["d"], ["r"], []),
    (2, "one whose node has room takes it", ["d"], ["elsewhere"], ["elsewhere"]),
]


@pytest.mark.parametrize(("length", "_why", "ready", "names", "expected"), SHARES)
def test_places_are_left_for_restores_and_for_nodes_with_room(length, _why, ready, names, expected):
    full = [a_transfer("full", P.IN_PROGRESS, node="n")]
    full += [a_download(name, P.PREPARED, node="n", label=IN_PROGRESS) for name in ready]
    waiting = [
        (a_download if name == "r" else a_transfer)(name, wanted="m" if name == "elsewhere" else "n") for name in names
    ]
    load = f'{{"globalConfig": 1, "prepareQueueLength": {length}, "restoreShare": 2}}'
    found = accepted(*full, *waiting, load=load)

    assert [name for name, _ in found] == expected


def test_with_one_node_no_place_is_left_for_others():
    crowd = [a_transfer("full", P.IN_PROGRESS, node="n"), a_transfer("u", wanted="n")]

    for share, expected in [(1, []), (0, ["u"])]:
        load = f'{{"globalConfig": 1, "prepareQueueLength": 1, "restoreShare": {share}}}'
        assert [name for name, _ in accepted(*crowd, load=load, nodes=[a_node("n")])] == expected


def test_one_that_is_ready_for_a_node_that_is_gone_takes_no_place_from_nodes_with_room():
    crowd = [a_transfer("stuck", P.PREPARED, node="gone"), a_transfer("full", P.IN_PROGRESS, node="n")]
    nodes = [a_node("n"), a_node("m"), a_node("gone", ready=False)]
    load = '{"globalConfig": 1, "prepareQueueLength": 2}'

    assert accepted(*crowd, a_transfer("u", wanted="n"), load=load, nodes=nodes) == []
    assert accepted(*crowd, a_transfer("u", wanted="m"), load=load, nodes=nodes) == [("u", "m")]


def test_one_that_is_not_made_ready_ahead_of_its_node_is_told_so():
    crowd = [a_transfer("full", P.IN_PROGRESS, node="n"), a_download("d", P.PREPARED, node="n", label=IN_PROGRESS)]
    crowd += [a_transfer("u", wanted="n"), a_download("r", wanted="n")]

    assert told(crowd, around(load='{"globalConfig": 1, "prepareQueueLength": 2}')) == {
        "d": "NodeLoad n 1/1",
        "u": "NodeLoad n 1/1, 1 made ready ahead, the other places are for nodes with room and for restores",
        "r": "NodeLoad n 1/1, 1 made ready ahead, the other places are for nodes with room",
    }


def test_a_restore_goes_before_older_backups_that_are_ready_for_its_node():
    crowd = [a_transfer(f"u{i}", P.PREPARED, node="n") for i in range(3)]
    restore = a_download("r", P.PREPARED, node="n", label=IN_PROGRESS)
    crowd.append(restore.with_metadata(annotations={ASKED_ANNOTATION: str(2 * 10**18)}))

    assert started(*crowd, load='{"globalConfig": 1}') == ["r"]
    assert started(*crowd, load='{"globalConfig": 2}') == ["r", "u0"]
    assert started(*crowd, load='{"globalConfig": 1, "restoreShare": 0}') == ["u0"]


def test_a_slot_is_kept_for_a_restore_that_is_being_prepared():
    crowd = [a_transfer("u", P.PREPARED, node="n"), a_download("r", P.ACCEPTED, node="n", label=IN_PROGRESS)]

    assert started(*crowd, load='{"globalConfig": 1}') == []
    assert told(crowd, around(load='{"globalConfig": 1}')) == {"u": "NodeLoad n 0/1, a restore goes first"}
    assert started(*crowd, load='{"globalConfig": 2}') == ["u"]
    assert started(*crowd, load='{"globalConfig": 1, "restoreShare": 0}') == ["u"]


def test_the_only_place_goes_to_a_restore_before_an_older_backup():
    crowd = [a_transfer("u", wanted="n"), a_download("r", wanted="n", label=str(2 * 10**18))]

    assert accepted(*crowd, load='{"globalConfig": 1, "prepareQueueLength": 1}') == [("r", "n")]
    assert accepted(*crowd, load='{"prepareQueueLength": 1, "restoreShare": 0}') == [("u", "n")]


def test_a_slot_is_kept_for_a_restore_that_gets_its_place_in_a_moment():
    crowd = [a_transfer("u", P.PREPARED, node="n"), a_download("r", wanted="n")]
    others = [a_transfer("c", P.ACCEPTED, node="m"), a_transfer("d", P.ACCEPTED, node="m")]

    assert started(*crowd, *others, load='{"globalConfig": 1, "prepareQueueLength": 3}') == []
    # Unless no place is left before a backup moves.
    stuck = [other.with_status(phase=P.PREPARED) for other in others]
    full = a_transfer("full", P.IN_PROGRESS, node="m")
    assert started(*crowd, *stuck, full, load='{"globalConfig": 1, "prepareQueueLength": 3}') == ["u"]


def test_where_backups_and_restores_have_limits_of_their_own_no_slot_is_kept():
    crowd = [a_transfer("u", P.PREPARED, node="n"), a_download("r", P.ACCEPTED, node="n", label=IN_PROGRESS)]

    assert started(*crowd) == ["u"]


def test_a_restore_beyond_the_share_waits_its_turn_among_backups():
    moving = a_download("moving", P.IN_PROGRESS, node="n", label=IN_PROGRESS)
    crowd = [moving, a_transfer("u", P.PREPARED, node="n"), a_download("r", P.ACCEPTED, node="n", label=IN_PROGRESS)]

    assert started(*crowd, load='{"globalConfig": 2}') == ["u"]


def test_by_default_a_restore_does_not_wait_for_a_running_backup_of_another_volume():
    crowd = [a_transfer("running", P.IN_PROGRESS, node="n"), a_transfer("u", P.PREPARED, node="n")]
    crowd.append(a_download("r", P.PREPARED, node="n", label=IN_PROGRESS))

    assert started(*crowd) == ["r"]
    assert started(*crowd, load='{"globalConfig": 1}') == []
    assert started(*crowd, nodes=[a_node("n", slots=1)]) == []
    assert told(crowd, around()) == {"u": "NodeLoad n 1/1"}


@pytest.mark.parametrize("wishes", [{"restores": 0}, {"nodes": [a_node("n"), a_node("m"), a_node("x", ready=False)]}])
def test_a_restore_that_could_not_use_a_place_keeps_none(wishes):
    stuck = a_download("r", wanted="x" if "nodes" in wishes else None)

    assert len(accepted(stuck, a_transfer("u"), load='{"prepareQueueLength": 1}', **wishes)) == 1

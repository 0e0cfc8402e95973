"""The gates of transfers: restore limit, prepare queue, node load."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.node_load import node_limit
from tidegate.decide.transfer_gates import plan_transfers
from tidegate.model.load import parse_load_concurrency
from tidegate.model.reasons import Reason
from tidegate.model.setting import effective_settings
from tidegate.model.transfer import DataDownload, DataUpload, TransferPhase
from tidegate.testing.builders import a_transfer as built

P = TransferPhase


def settings(load='{"globalConfig": 1}', restores=5):
    return replace(effective_settings([]), concurrent_restores=restores, load_concurrency=parse_load_concurrency(load))


def a_transfer(name, *given, **wishes):
    """Each of a volume of its own, unless the test says otherwise."""
    return built(name, *given, **{"volume": ("ns", name), **wishes})


def plan(*transfers, load='{"globalConfig": 1}', restores=5, down=frozenset()):
    return plan_transfers(transfers, settings(load, restores), node_labels={}, unavailable_targets=down)


def test_without_a_prepare_queue_all_new_transfers_are_accepted():
    made = plan(*(a_transfer(f"t{i}") for i in range(3)))

    assert [ref.name for ref in made.accept] == ["t0", "t1", "t2"]
    assert made.wait == []


def test_a_full_prepare_queue_keeps_the_others_new():
    made = plan(
        a_transfer("t0", P.PREPARED, node="n"), a_transfer("t1"), a_transfer("t2"), load='{"prepareQueueLength": 2}'
    )

    assert [ref.name for ref in made.accept] == ["t1"]
    assert [(h.ref.name, h.reason) for h in made.wait] == [("t2", Reason.PREPARE_QUEUE_FULL)]


def test_a_node_moves_no_more_than_its_limit_and_the_others_say_why():
    made = plan(
        a_transfer("moving", P.IN_PROGRESS, node="n"),
        a_transfer("stopping", P.CANCELING, node="n"),
        a_transfer("ready", P.PREPARED, node="n"),
        a_transfer("elsewhere", P.PREPARED, node="m"),
        load='{"globalConfig": 2}',
    )

    assert [ref.name for ref in made.start] == ["elsewhere"]
    assert [(h.ref.name, h.message) for h in made.wait] == [
        ("ready", "node n moves 2 of 2 transfers (load-concurrency)")
    ]


def test_a_burst_of_restores_stays_within_the_limit_longhorn_4558():
    made = plan(*(a_transfer(f"r{i}", kind=DataDownload) for i in range(8)), restores=1)

    assert [ref.name for ref in made.accept] == ["r0"]
    assert {h.reason for h in made.wait} == {Reason.RESTORE_LIMIT}


def test_a_limit_of_zero_pauses_restores_and_leaves_backups_alone():
    made = plan(a_transfer("r", kind=DataDownload), a_transfer("u"), restores=0)

    assert [ref.name for ref in made.accept] == ["u"]
    assert [h.reason for h in made.wait] == [Reason.RESTORES_DISABLED]


def test_a_target_that_is_down_is_waited_for():
    made = plan(a_transfer("t"), down=frozenset({"store"}))

    assert [(h.ref.name, h.reason) for h in made.wait] == [("t", Reason.TARGET_UNAVAILABLE)]


def test_two_uploads_of_one_volume_never_move_at_once():
    same = ("shop", "db")
    made = plan(
        a_transfer("first", P.CANCELING, node="n", volume=same),
        a_transfer("second", P.PREPARED, node="n", volume=same),
        a_transfer("other", P.PREPARED, node="n"),
        load='{"globalConfig": 9}',
    )

    assert [ref.name for ref in made.start] == ["other"]
    assert [(h.ref.name, h.reason, h.message) for h in made.wait] == [
        ("second", Reason.DEPENDENCY, "DataUpload first is moving the same volume, shop/db")
    ]


def test_of_two_uploads_of_one_volume_that_are_ready_only_the_older_starts():
    made = plan(*(a_transfer(n, P.PREPARED, node="n", volume=("shop", "db")) for n in "ab"), load='{"globalConfig": 9}')

    assert [ref.name for ref in made.start] == ["a"]


def test_a_restore_of_a_volume_does_not_wait_for_its_upload():
    same = ("shop", "db")
    moving = a_transfer("up", P.IN_PROGRESS, node="n", volume=same)
    made = plan(
        moving, a_transfer("down", P.PREPARED, node="n", volume=same, kind=DataDownload), load='{"globalConfig": 9}'
    )

    assert [ref.name for ref in made.start] == ["down"]


def test_a_transfer_that_shall_be_cancelled_takes_no_slot():
    cancelled = a_transfer("a", P.PREPARED, node="n").with_spec(cancel=True)

    assert [ref.name for ref in plan(cancelled, a_transfer("b", P.PREPARED, node="n")).start] == ["b"]


# velero.md 6.6: node labels host-name=node-1, xxxx=yyyyy.
def rules(*numbers_by_label):
    selected = [{"nodeSelector": {"matchLabels": labels}, "number": number} for labels, number in numbers_by_label]
    return json.dumps({"globalConfig": 6, "perNodeConfig": selected})


HOST, OTHER = {"host-name": "node-1"}, {"xxxx": "yyyyy"}
RULES = [
    ("{}", 1),
    ('{"globalConfig": 6}', 6),
    (rules(({"other": "x"}, 3)), 6),
    (rules((HOST, 66)), 66),
    (rules((HOST, 66), (OTHER, 36)), 36),
    (rules((HOST, 36), (OTHER, 66)), 36),
]


@pytest.mark.parametrize(("config", "expected"), RULES)
def test_the_smallest_matching_rule_wins(config, expected):
    assert node_limit({"host-name": "node-1", "xxxx": "yyyyy"}, parse_load_concurrency(config)) == expected


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ("{", "not JSON"),
        ('{"globalConfig": 0}', "globalConfig"),
        ('{"perNodeConfig": [{"number": 1}]}', r"perNodeConfig\[0\].nodeSelector"),
        ('{"prepareQueue": 1}', "prepareQueue"),
        ("[]", "the document"),
    ],
)
def test_a_wrong_load_configuration_is_refused_with_the_path_of_the_mistake(config, path):
    with pytest.raises(ValueError, match=path):
        parse_load_concurrency(config)


phases = st.sampled_from(list(P))
kinds = st.sampled_from([DataUpload, DataDownload])
crowds = st.lists(st.tuples(phases, kinds, st.sampled_from(["n", "m"])), max_size=30)


@given(crowds, st.integers(1, 3), st.integers(1, 4), st.integers(0, 4))
def test_no_gate_ever_lets_more_through_than_its_limit(crowd, load, length, restores):
    transfers = [a_transfer(f"t{i:02}", phase, kind=kind, node=node) for i, (phase, kind, node) in enumerate(crowd)]
    made = plan(*transfers, load=f'{{"globalConfig": {load}, "prepareQueueLength": {length}}}', restores=restores)
    by_ref = {t.ref: t for t in transfers}

    for node in ("n", "m"):
        moving = sum(t.status.phase.moving and t.status.node == node for t in transfers)
        assert sum(by_ref[ref].status.node == node for ref in made.start) <= max(0, load - moving)
    preparing = sum(t.status.phase in {P.ACCEPTED, P.PREPARED} for t in transfers)
    assert len(made.accept) <= max(0, length - preparing)
    busy = {P.ACCEPTED, P.PREPARED, P.IN_PROGRESS, P.CANCELING}
    restoring = sum(isinstance(t, DataDownload) and t.status.phase in busy for t in transfers)
    assert sum(isinstance(by_ref[ref], DataDownload) for ref in made.accept) <= max(0, restores - restoring)

"""The gates of transfers together: who goes on, where, and what the others are told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.gate_plans import (  # type: ignore[import-not-found]  # pytest has tests/ on its path
    P,
    a_download,
    a_transfer,
    accepted,
    applied,
    around,
    started,
    table_of,
    told,
)
from tidegate.decide.transfers.entry import TransferEntry
from tidegate.decide.transfers.gates import plan_accepts
from tidegate.decide.transfers.prepare_count import PREPARING
from tidegate.decide.transfers.restore_limit import IN_PROGRESS, RESTORE_PRIORITY_LABEL
from tidegate.decide.transfers.waits import TransferWaits
from tidegate.model.transfers.transfer import DataDownload, DataUpload, PodVolumeBackup, PodVolumeRestore, Refusal
from tidegate.testing.resources.builders import a_node


def test_without_a_prepare_queue_all_new_transfers_are_accepted_and_spread_over_the_nodes():
    assert accepted(*(a_transfer(f"t{i}") for i in range(3))) == [("t0", "m"), ("t1", "n"), ("t2", "m")]


def test_a_full_prepare_queue_keeps_the_others_new_and_tells_who_fills_it():
    crowd = [
        a_transfer("u", P.PREPARED, node="n"),
        a_download("d", P.ACCEPTED, node="n"),
        a_transfer("moving", P.IN_PROGRESS, node="n"),
        a_transfer("next"),
        a_transfer("waits"),
    ]

    assert accepted(*crowd, load='{"prepareQueueLength": 3}') == [("next", "m")]
    assert told(crowd, around(load='{"prepareQueueLength": 3}')) == {
        "u": "NodeLoad n 1/1",
        "waits": "PrepareQueueFull 3/3 (2 backups, 1 restore)",
    }


def test_velero_8344_movers_that_nobody_can_use_yet_are_not_prepared():
    assert len(accepted(*(a_transfer(f"t{i:03}") for i in range(100)), load='{"prepareQueueLength": 2}')) == 2


def test_a_node_moves_no_more_than_its_limit_and_the_others_say_why():
    crowd = [
        a_transfer("moving", P.IN_PROGRESS, node="n"),
        a_transfer("stopping", P.CANCELING, node="n"),
        a_transfer("ready", P.PREPARED, node="n"),
        a_transfer("elsewhere", P.PREPARED, node="m"),
    ]

    assert started(*crowd, load='{"globalConfig": 2}') == ["elsewhere"]
    assert told(crowd, around(load='{"globalConfig": 2}')) == {"ready": "NodeLoad n 2/2"}


def test_velero_9334_an_idle_node_takes_the_oldest_that_is_ready_for_it():
    """And velero#8971: held up by the limit of a node that was idle."""
    crowd = [a_transfer(f"old-{i}", P.PREPARED, node="n") for i in range(50)]

    assert started(*crowd, a_transfer("young", P.PREPARED, node="m"), load='{"globalConfig": 2}') == [
        "young",
        "old-0",
        "old-1",
    ]


def test_a_machine_that_bears_less_than_the_settings_allow_gets_less():
    ready = [a_transfer(f"t{i}", P.PREPARED, node="small") for i in range(4)]

    assert len(started(*ready, load='{"globalConfig": 3}', nodes=[a_node("small", slots=2)])) == 2
    assert len(started(*ready, load='{"globalConfig": 3}', nodes=[a_node("small", slots=9)])) == 3


# velero.md 6.7: two slots; the third waits; what was resumed counts, even over the limit; one end frees one place.
SLOTS = [
    (["job1"], 0, ["job1"]),
    (["job1", "job2"], 0, ["job1", "job2"]),
    (["job1", "job2", "job3"], 0, ["job1", "job2"]),
    (["job3"], 3, []),
    (["job3"], 2, []),
    (["job3"], 1, ["job3"]),
]


@pytest.mark.parametrize(("ready", "moving", "expected"), SLOTS)
def test_a_node_with_two_slots_gives_away_two(ready, moving, expected):
    resumed = [a_transfer(f"resumed{i}", P.IN_PROGRESS, node="n") for i in range(moving)]
    waiting = [a_transfer(name, P.PREPARED, node="n") for name in ready]

    assert started(*resumed, *waiting, load='{"globalConfig": 2}') == expected


def test_a_burst_of_restores_stays_within_the_limit_longhorn_4558():
    crowd = [a_download(f"r{i}", label=str(100 - i)) for i in range(8)]

    assert [name for name, _ in accepted(*crowd, restores=1)] == ["r7"]
    assert told(crowd, around(restores=1))["r5"] == "RestoreLimit 1/1, position 2"


def test_a_limit_of_zero_pauses_restores_and_leaves_backups_alone():
    crowd = [a_download("r"), a_transfer("u")]

    assert [name for name, _ in accepted(*crowd, restores=0)] == ["u"]
    assert told(crowd, around(restores=0)) == {
        "r": "RestoresDisabled restores are paused: concurrent-backup-restore-limit is 0"
    }


def test_a_lowered_limit_ends_nobody_and_lets_nobody_begin():
    running = [a_download(f"r{i}", P.IN_PROGRESS, node="n", label=IN_PROGRESS) for i in range(3)]

    assert accepted(*running, a_download("next"), restores=2) == []
    assert told([*running, a_download("next")], around(restores=2)) == {"next": "RestoreLimit 3/2, position 1"}


def test_what_is_labelled_in_progress_holds_its_slot_whatever_its_phase_says():
    """Its server died between the label and the phase; nobody may take the slot, and it goes on first."""
    cut_short = a_download("cut-short", label=IN_PROGRESS)

    assert [name for name, _ in accepted(cut_short, a_download("next", label="1"), restores=1)] == ["cut-short"]
    assert [name for name, _ in accepted(cut_short, a_download("next", label="1"), restores=0)] == ["cut-short"]


def test_each_node_may_have_a_restore_limit_of_its_own():
    crowd = [a_download(f"r{i}", wanted="n") for i in range(2)] + [a_download(f"s{i}") for i in range(2)]

    assert accepted(*crowd, per_node=1) == [("r0", "n"), ("s0", "m")]
    assert told(crowd, around(per_node=1)) == {
        "r1": "RestoreLimit n 1/1, position 1",
        "s1": "RestoreLimit every node 1/1, position 2",
    }


# A backup that must wait for its node takes no place that a restore may need, and no place that a node with room may.


def test_a_target_that_is_down_is_waited_for_and_holds_up_nobody_else():
    other = a_transfer("u").with_spec(target="other")

    assert accepted(a_transfer("t"), other, down=["store"]) == [("u", "m")]
    assert told([a_transfer("t")], around(down=["store"])) == {"t": "TargetUnavailable target store does not answer"}


NODES = [
    ("gone", None, [], "Dependency there is no node gone"),
    ("down", None, [a_node("down", ready=False)], "Dependency node down is not ready"),
    (None, None, [a_node("down", ready=False)], "Dependency no node is ready"),
    (None, None, [], "Dependency no node is ready"),
    (None, "gone", [], "Dependency there is no node gone"),
    (None, "down", [a_node("down", ready=False)], "Dependency node down is not ready"),
]


@pytest.mark.parametrize(("wanted", "on", "nodes", "words"), NODES)
def test_a_transfer_whose_node_is_missing_waits_and_says_so(wanted, on, nodes, words):
    transfer = a_transfer("t", P.PREPARED if on else P.NEW, wanted=wanted, node=on)

    assert told([transfer], around(nodes=nodes)) == {"t": words}


def test_a_transfer_goes_to_the_ready_node_with_the_most_room():
    nodes = [a_node("full"), a_node("large"), a_node("larger", ready=False), a_node("small", slots=1)]
    busy = a_transfer("busy", P.PREPARED, node="full")

    assert accepted(busy, a_transfer("a"), a_transfer("b"), load='{"globalConfig": 3}', nodes=nodes) == [
        ("a", "large"),
        ("b", "full"),
    ]


def test_two_uploads_of_one_volume_never_move_at_once():
    same = ("shop", "db")
    crowd = [
        a_transfer("first", P.CANCELING, node="n", volume=same),
        a_transfer("second", P.PREPARED, node="n", volume=same),
        a_transfer("other", P.PREPARED, node="n"),
    ]

    assert started(*crowd, load='{"globalConfig": 9}') == ["other"]
    assert told(crowd, around(load='{"globalConfig": 9}')) == {
        "second": "Dependency DataUpload first is moving the same volume, shop/db"
    }


def test_of_two_uploads_of_one_volume_that_are_ready_only_the_older_starts():
    both = [a_transfer(name, P.PREPARED, node=node, volume=("shop", "db")) for name, node in [("a", "m"), ("b", "n")]]

    assert started(*both, load='{"globalConfig": 9}') == ["a"]


def test_a_restore_of_a_volume_does_not_wait_for_its_upload():
    moving = a_transfer("up", P.IN_PROGRESS, node="n", volume=("shop", "db"))
    restore = a_download("down", P.PREPARED, node="n", volume=("shop", "db"))

    assert started(moving, restore, load='{"globalConfig": 9}') == ["down"]


# What of velero.md 6.8 concerns the gates; the rest is told by the transfer's own controller.
STEPS = [
    ("New, constrained: stays New", P.NEW, {}, {"load": '{"prepareQueueLength": 1}'}, P.NEW),
    ("New: Accepted", P.NEW, {}, {}, P.ACCEPTED),
    ("New and cancelled: not ours", P.NEW, {"cancel": True}, {}, P.NEW),
    ("New and refused: not ours", P.NEW, {"refused": Refusal(message="no", error_code="HookFailed")}, {}, P.NEW),
    ("Accepted: not ours", P.ACCEPTED, {}, {}, P.ACCEPTED),
    ("Prepared, no slot: stays Prepared", P.PREPARED, {}, {"load": '{"globalConfig": 1}'}, P.PREPARED),
    ("Prepared: InProgress", P.PREPARED, {}, {"load": '{"globalConfig": 2}'}, P.IN_PROGRESS),
    ("Prepared and cancelled: not ours", P.PREPARED, {"cancel": True}, {"load": '{"globalConfig": 2}'}, P.PREPARED),
    ("InProgress: not ours", P.IN_PROGRESS, {}, {}, P.IN_PROGRESS),
    ("Canceling: not ours", P.CANCELING, {}, {}, P.CANCELING),
    ("over: not ours", P.COMPLETED, {}, {}, P.COMPLETED),
]


@pytest.mark.parametrize("kind", [DataUpload, DataDownload, PodVolumeBackup, PodVolumeRestore])
@pytest.mark.parametrize(("_what", "phase", "spec", "wishes", "expected"), STEPS, ids=[step[0] for step in STEPS])
def test_the_gates_take_their_steps_and_no_other(kind, _what, phase, spec, wishes, expected):
    others = [a_transfer("p", P.ACCEPTED, node="n"), a_transfer("m", P.IN_PROGRESS, node="n")]
    subject = a_transfer("t", phase, node="n" if phase is not P.NEW else None, kind=kind).with_spec(**spec)
    nodes = [a_node("n")]

    after = {t.name: t for t in applied([*others, subject], around(nodes=nodes, **wishes))}

    assert after["t"].status.phase is expected


KINDS = [DataUpload, DataDownload, PodVolumeBackup, PodVolumeRestore]
labels = st.sampled_from([None, None, IN_PROGRESS, "1", str(2 * 10**18), "nonsense"])
crowds = st.lists(
    st.tuples(
        st.sampled_from([*P, P.NEW, P.NEW, P.PREPARED]),
        st.sampled_from(KINDS),
        st.sampled_from(["n", "m", "gone"]),
        st.sampled_from([None, None, "n", "gone"]),
        labels,
        st.booleans(),
    ),
    max_size=30,
)
limits = st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(0, 3), st.integers(0, 4), st.integers(0, 2))


def build(crowd, limit):
    load, length, share, restores, per_node = limit
    transfers = [
        a_transfer(
            f"t{i:02}",
            phase,
            kind=kind,
            node=node,
            wanted=wanted,
            label=label if "Upload" not in kind.__name__ else None,
        ).with_spec(cancel=cancel and i % 5 == 0)
        for i, (phase, kind, node, wanted, label, cancel) in enumerate(crowd)
    ]
    text = f'{{"globalConfig": {load}, "prepareQueueLength": {length}, "restoreShare": {min(share, length)}}}'
    return transfers, around(text, restores, per_node)


def holding(transfers):
    return sum(
        t.direction == "download"
        and (
            t.metadata.labels.get(RESTORE_PRIORITY_LABEL) == IN_PROGRESS
            or not (t.status.phase is P.NEW or t.status.phase.final)
        )
        for t in transfers
    )


@given(crowds, limits)
def test_no_gate_ever_lets_more_through_than_its_limit(crowd, limit):
    before, surroundings = build(crowd, limit)
    after = applied(before, surroundings)
    load, length, _share, restores, per_node = limit

    for node in ("n", "m"):
        for what, most in [
            (lambda t: t.status.phase.moving, load),
            (
                lambda t: t.direction == "download" and not t.status.phase.final and t.status.phase is not P.NEW,
                per_node,
            ),
        ]:
            was, now = (sum(what(t) and t.status.node == node for t in some) for some in (before, after))
            assert most == 0 or now <= max(was, most)
    was, now = (sum(t.status.phase in PREPARING for t in some) for some in (before, after))
    assert length == 0 or now <= max(was, length)
    assert holding(after) <= max(holding(before), restores)


@given(crowds, limits)
def test_whoever_was_asked_for_first_goes_first_among_those_with_the_same_wishes(crowd, limit):
    before, surroundings = build(crowd, limit)
    table, went = table_of(before), {a.entry.ref for a in plan_accepts(table_of(before), surroundings)}

    for lane in table.new.values():
        gone = [place.ref in went for place in lane]
        assert gone == sorted(gone, reverse=True)


@given(crowds, limits)
def test_among_restores_nobody_overtakes_for_whom_there_was_a_slot_and_a_node(crowd, limit):
    before, surroundings = build(crowd, limit)
    before = [t.with_spec(node=None) for t in before if t.status.phase is not P.NEW or t.direction == "download"]
    table, went = table_of(before), {a.entry.ref for a in plan_accepts(table_of(before), surroundings)}
    line = sorted(place for key, lane in table.new.items() if not key.has_slot for place in lane)

    gone = [place.ref in went for place in line]
    assert gone == sorted(gone, reverse=True)


def test_one_that_went_on_since_it_was_read_is_not_told_to_wait_for_itself():
    moves = a_transfer("t", P.IN_PROGRESS, node="node-a")
    as_it_was = TransferEntry.of(moves.with_status(phase=P.PREPARED))

    assert TransferWaits(table_of([moves]), around()).why(as_it_was) is None


@given(crowds, limits)
def test_a_pass_after_a_pass_changes_nothing_and_whoever_waits_has_a_reason(crowd, limit):
    before, surroundings = build(crowd, limit)
    after = applied(before, surroundings)

    settled = applied(after, surroundings)
    assert [t.to_wire() for t in settled] == [t.to_wire() for t in after]
    waits = TransferWaits(table_of(after), surroundings)
    explained = {held.entry.ref for held in waits.untold()}
    waiting = {t.ref for t in after if t.status.phase in {P.NEW, P.PREPARED} and not t.spec.cancel}
    assert explained == waiting
    assert sum(waits.reasons().values()) == len(waiting)

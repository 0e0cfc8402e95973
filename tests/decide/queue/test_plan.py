"""The queue: many at once, never two on the same namespace, nobody overtaken for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.plan import (
    AdmissionPlan,
    Contender,
    QueueSnapshot,
    obstacles,
    plan_admissions,
    plan_starts,
)
from tidegate.decide.queue.surroundings import Surroundings
from tidegate.decide.stores.target_away import no_answer
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.reasons import Reason
from tidegate.state.queue import QueueTable
from tidegate.testing.resources.builders import a_backup

RUNNING, READY, QUEUED, NEW = (
    BackupPhase.IN_PROGRESS,
    BackupPhase.READY_TO_START,
    BackupPhase.QUEUED,
    BackupPhase.NEW,
)


def snapshot_of(*backups, **around):
    table = QueueTable()
    table.replace_all(backups)
    return table.snapshot(Surroundings(**around))


def plan_for(*backups, limit, namespaces=()):
    return plan_admissions(snapshot_of(*backups, namespaces=frozenset(namespaces)), limit=limit)


def waits(plan: AdmissionPlan):
    return [(w.name, w.position, w.blocked_by) for w in plan.wait]


def test_the_worked_example_of_the_design_starts_only_backup5():
    queue = [
        a_backup("backup1", "ns1", "ns2", phase=RUNNING),
        a_backup("backup2", "ns2", "ns3", "ns5", phase=QUEUED, ticket=2),
        a_backup("backup3", "ns4", "ns3", phase=QUEUED, ticket=3),
        a_backup("backup4", "ns5", "ns6", phase=QUEUED, ticket=4),
        a_backup("backup5", "ns8", "ns9", phase=QUEUED, ticket=5),
    ]

    plan = plan_for(*queue, limit=2)

    assert plan.start == ("backup5",)
    assert waits(plan) == [("backup2", 1, "backup1"), ("backup3", 2, "backup2"), ("backup4", 3, "backup2")]


def test_once_the_first_of_the_example_is_done_the_second_is_next():
    queue = [
        a_backup("backup2", "ns2", "ns3", "ns5", phase=QUEUED, ticket=2),
        a_backup("backup3", "ns4", "ns3", phase=QUEUED, ticket=3),
        a_backup("backup5", "ns8", "ns9", phase=RUNNING),
    ]

    assert plan_for(*queue, limit=2).start == ("backup2",)


# The fifteen cases of the original's own suite. Those about joining the queue (1 to 3) are in
# tests/controllers/queue/test_wakes.py; 4 and 14 differ on purpose, see docs/decisions/0003.
VELERO = [
    ("4 a place that nobody gave", [], ("b11",), 1, True),
    ("5 full house", [("b11", RUNNING), ("b12", RUNNING)], ("b20",), 2, False),
    ("6 ready counts as running", [("b11", RUNNING), ("b12", READY)], ("b20",), 2, False),
    ("7 one ahead could run", [("b11", RUNNING), ("b12", QUEUED)], ("b20",), 3, False),
    ("8 same namespace runs", [("b11", RUNNING, "foo")], ("b20", "foo"), 3, False),
    ("9 same namespace is ready", [("b11", READY, "foo")], ("b20", "foo"), 3, False),
    ("10 same namespace is ahead", [("b11", QUEUED, "foo")], ("b20", "foo", "bar"), 3, False),
    # The original starts b12 now and b20 when it looks again; ours starts both in one pass.
    ("11 one ahead starts too", [("b11", RUNNING, "bar"), ("b12", QUEUED, "foo")], ("b20", "baz"), 3, True),
    ("11 with two slots", [("b11", RUNNING, "bar"), ("b12", QUEUED, "foo")], ("b20", "baz"), 2, False),
    ("12 everything runs", [("b11", RUNNING, "*")], ("b20", "foo"), 3, False),
    ("13 everything waits for one", [("b11", RUNNING, "bar")], ("b20", "*"), 3, False),
    ("14 all against all", [("b11", RUNNING), ("b12", RUNNING)], ("b20",), 3, False),
    ("15 another namespace", [("b11", READY, "foo")], ("b20", "bar"), 3, True),
]


@pytest.mark.parametrize(("case", "others", "asked", "limit", "starts"), VELERO, ids=[row[0] for row in VELERO])
def test_veleros_own_cases(case, others, asked, limit, starts):
    queue = [a_backup(name, *ns, phase=phase, ticket=1) for name, phase, *ns in others]
    name, *namespaces = asked
    existing = [] if case.startswith(("4 ", "14 ")) else ["foo", "bar", "baz"]
    ticket = None if case.startswith("4 ") else 9

    plan = plan_for(*queue, a_backup(name, *namespaces, phase=QUEUED, ticket=ticket), limit=limit, namespaces=existing)

    assert (name in plan.start) is starts


REASONS = [
    ([("b1", RUNNING, "a")], Reason.NAMESPACE_OVERLAP_RUNNING, "backup b1 is running and shares namespace a"),
    (
        [("b0", RUNNING, "z"), ("b1", QUEUED, "z", "a")],
        Reason.NAMESPACE_OVERLAP_QUEUED,
        "backup b1 is ahead in the queue and shares namespace a",
    ),
    (
        [("b1", RUNNING, "z"), ("b2", RUNNING, "y")],
        Reason.CONCURRENCY_LIMIT,
        "all 2 slots of concurrent-backups are taken",
    ),
]


@pytest.mark.parametrize(("others", "reason", "message"), REASONS)
def test_whoever_waits_can_say_why(others, reason, message):
    queue = [a_backup(name, *ns, phase=phase, ticket=1) for name, phase, *ns in others]

    plan = plan_for(*queue, a_backup("late", "a", phase=QUEUED, ticket=9), limit=2)

    assert [(w.reason, w.message) for w in plan.wait if w.name == "late"] == [(reason, message)]


def test_a_store_that_is_down_holds_the_queue_and_says_so():
    down = {"store": no_answer("store")}
    snapshot = snapshot_of(a_backup("b1", "a", phase=QUEUED, ticket=1), unavailable_targets=down)

    plan = plan_admissions(snapshot, limit=1)

    assert [(w.name, w.reason) for w in plan.wait] == [("b1", Reason.TARGET_UNAVAILABLE)]


def test_a_backup_that_is_being_deleted_takes_no_place():
    gone = a_backup("gone", "a", phase=QUEUED, ticket=1)
    gone = gone.with_metadata(deletion_timestamp=gone.metadata.creation_timestamp)
    late = a_backup("late", "a", phase=QUEUED, ticket=2)

    assert plan_for(gone, late, limit=1).start == ("late",)


def test_a_paused_queue_starts_nothing_and_says_how_to_go_on():
    snapshot = snapshot_of(a_backup("b1", "a", phase=QUEUED, ticket=1), paused=True)

    plan = plan_admissions(snapshot, limit=1)

    assert (plan.start, plan_starts(snapshot, limit=1)) == ((), ())
    assert [(w.reason, "tidegate queue resume" in w.message) for w in plan.wait] == [(Reason.PAUSED, True)]


def test_every_obstacle_is_told_the_most_telling_first():
    queue = [
        a_backup("r1", "a", phase=RUNNING),
        a_backup("r2", "b", phase=READY),
        a_backup("ahead", "b", "c", phase=QUEUED, ticket=1),
        a_backup("elsewhere", "z", phase=QUEUED, ticket=2),
        a_backup("mine", "a", "b", "c", phase=QUEUED, ticket=3),
    ]
    snapshot = snapshot_of(*queue, unavailable_targets={"store": no_answer("store")})

    found = obstacles(snapshot, "mine", limit=2)

    assert [(one.reason, one.blocked_by, one.shared) for one in found] == [
        (Reason.NAMESPACE_OVERLAP_RUNNING, "r1", ["a"]),
        (Reason.NAMESPACE_OVERLAP_RUNNING, "r2", ["b"]),
        (Reason.NAMESPACE_OVERLAP_QUEUED, "ahead", ["b", "c"]),
        (Reason.TARGET_UNAVAILABLE, "store", []),
        (Reason.CONCURRENCY_LIMIT, None, []),
    ]
    assert obstacles(snapshot, "nobody", limit=2) == []


def test_a_slot_that_goes_to_someone_ahead_in_the_same_instant_is_an_obstacle_too():
    queue = [a_backup("first", "a", phase=QUEUED, ticket=1), a_backup("second", "b", phase=QUEUED, ticket=2)]

    assert [one.reason for one in obstacles(snapshot_of(*queue), "second", limit=1)] == [Reason.CONCURRENCY_LIMIT]
    assert obstacles(snapshot_of(*queue), "second", limit=2) == []


names = st.sampled_from(["a", "b", "c", "d", "e"])
scopes = st.builds(Scope, st.frozensets(names, min_size=1, max_size=3), st.sampled_from([False, False, False, True]))
contenders = st.lists(scopes, max_size=8)


@st.composite
def queues(draw):
    limit = draw(st.integers(1, 4))
    waiting = tuple(Contender(f"w{i}", scope) for i, scope in enumerate(draw(contenders)))
    running = []
    for i, scope in enumerate(draw(contenders)):
        if len(running) < limit and all(not scope.shared_with(other.scope) for other in running):
            running.append(Contender(f"r{i}", scope))
    return QueueSnapshot(tuple(running), waiting), limit


@given(queues())
def test_the_limit_is_never_exceeded_and_nothing_overlaps(case):
    snapshot, limit = case
    plan = plan_admissions(snapshot, limit=limit)
    at_work = [*snapshot.running, *(c for c in snapshot.waiting if c.name in plan.start)]

    assert len(at_work) <= limit
    assert all(not a.scope.shared_with(b.scope) for i, a in enumerate(at_work) for b in at_work[i + 1 :])


@given(queues())
def test_positions_are_one_to_n_and_everybody_is_accounted_for(case):
    snapshot, limit = case
    plan = plan_admissions(snapshot, limit=limit)

    assert [w.position for w in plan.wait] == list(range(1, len(plan.wait) + 1))
    assert sorted([*plan.start, *(w.name for w in plan.wait)]) == sorted(c.name for c in snapshot.waiting)


@given(queues())
def test_planning_again_after_applying_starts_nothing_new(case):
    snapshot, limit = case
    plan = plan_admissions(snapshot, limit=limit)
    started = tuple(c for c in snapshot.waiting if c.name in plan.start)
    left = tuple(c for c in snapshot.waiting if c.name not in plan.start)

    again = plan_admissions(QueueSnapshot((*snapshot.running, *started), left), limit=limit)

    assert again.start == ()


@given(queues())
def test_the_head_starts_once_nothing_runs(case):
    snapshot, limit = case
    plan = plan_admissions(QueueSnapshot((), snapshot.waiting), limit=limit)

    assert plan.start[:1] == tuple(c.name for c in snapshot.waiting[:1])


@given(queues())
def test_nobody_overtakes_a_waiting_backup_that_shares_a_namespace(case):
    snapshot, limit = case
    plan = plan_admissions(snapshot, limit=limit)
    waiting = {w.name for w in plan.wait}

    for place, backup in enumerate(snapshot.waiting):
        if backup.name in plan.start:
            ahead = [c for c in snapshot.waiting[:place] if c.name in waiting]
            assert all(not backup.scope.shared_with(other.scope) for other in ahead)


@given(queues())
def test_the_index_finds_what_a_comparison_of_every_pair_finds(case):
    snapshot, limit = case
    running, start, wait = list(snapshot.running), [], []
    for backup in snapshot.waiting:
        first = next((o for o in [*running, *start, *wait] if backup.scope.shared_with(o.scope)), None)
        free = limit - len(running) - len(start)
        (start if first is None and free > 0 else wait).append(backup)

    plan = plan_admissions(snapshot, limit=limit)

    assert plan.start == tuple(backup.name for backup in start)
    assert plan_starts(snapshot, limit=limit) == plan.start
    for waiting in plan.wait:
        scope = next(backup.scope for backup in snapshot.waiting if backup.name == waiting.name)
        if waiting.obstacle.claim is None:
            assert waiting.reason is Reason.CONCURRENCY_LIMIT
        else:
            assert waiting.obstacle.shared == sorted(scope.shared_with(waiting.obstacle.claim.scope))
            assert waiting.obstacle.shared
            runs = any(scope.shared_with(other.scope) for other in running)
            assert not runs or waiting.reason is Reason.NAMESPACE_OVERLAP_RUNNING
        assert waiting.obstacle in obstacles(snapshot, waiting.name, limit=limit) or waiting.blocked_by in plan.start

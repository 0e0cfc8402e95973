"""Which restores may start, and how they and backups keep out of each other's way."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.decide.queue.chain import ends_first
from tidegate.decide.queue.claims import RestoreClaim
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.plan import Contender, QueueSnapshot, obstacles, plan_admissions
from tidegate.decide.queue.surroundings import Surroundings
from tidegate.decide.restores.queue import plan_restores
from tidegate.decide.transfers.restore_limit import RESTORES_PAUSED
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.reasons import Reason
from tidegate.model.restores.restore import RestorePhase
from tidegate.state.queue import QueueTable
from tidegate.state.restores import RestoreTable
from tidegate.testing.resources.builders import THEN, a_backup, a_restore


def claim(name, *namespaces, running=False):
    return RestoreClaim(name, Scope(frozenset(namespaces)), running)


def backup(name, *namespaces):
    return Contender(name, Scope(frozenset(namespaces)))


@pytest.mark.parametrize(
    ("restores", "backups", "start", "wait"),
    [
        ([claim("r", "a")], [], ["r"], []),
        ([claim("r", "a")], [backup("b", "a")], [], [("r", "NamespaceOverlapRunning", "backup b is running")]),
        ([claim("r", "a")], [backup("b", "c")], ["r"], []),
        (
            [claim("r1", "a", running=True), claim("r2", "a")],
            [],
            [],
            [("r2", "NamespaceOverlapRunning", "restore r1 is running")],
        ),
        (
            [claim("r1", "a", "b"), claim("r2", "b")],
            [backup("b", "a")],
            [],
            [
                ("r1", "NamespaceOverlapRunning", "backup b is running"),
                ("r2", "NamespaceOverlapQueued", "restore r1 is ahead in the queue"),
            ],
        ),
        ([claim("elsewhere")], [Contender("all", Scope(frozenset(), all_but=True))], ["elsewhere"], []),
    ],
)
def test_a_restore_waits_for_what_runs_and_for_restores_ahead(restores, backups, start, wait):
    plan = plan_restores(restores, backups)

    assert list(plan.start) == start
    found = [(one.name, one.reason, one.message.partition(" and shares")[0]) for one in plan.wait]
    assert found == wait
    assert [one.position for one in plan.wait] == list(range(1, len(wait) + 1))


def test_the_message_names_what_is_shared():
    (waiting,) = plan_restores([claim("r", "a", "b", "c")], [backup("b1", "b", "c")]).wait

    assert waiting.message == "backup b1 is running and shares namespaces b, c"


def test_paused_restores_all_wait_and_say_so():
    plan = plan_restores([claim("r1", "a"), claim("elsewhere")], [], paused=True)

    assert [(one.name, one.reason, one.message) for one in plan.wait] == [
        ("r1", Reason.RESTORES_DISABLED, RESTORES_PAUSED),
        ("elsewhere", Reason.RESTORES_DISABLED, RESTORES_PAUSED),
    ]


@pytest.mark.parametrize(
    ("running", "reason", "message"),
    [
        (True, Reason.NAMESPACE_OVERLAP_RUNNING, "restore r is running and shares namespace a"),
        (False, Reason.NAMESPACE_OVERLAP_QUEUED, "restore r is ahead in the queue and shares namespace a"),
    ],
)
def test_a_backup_waits_for_a_restore_that_runs_or_waits(running, reason, message):
    restores = [claim("r", "a", running=running)]
    queue = QueueSnapshot(running=[], waiting=[backup("b1", "a"), backup("b2", "c")], restores=restores)

    plan = plan_admissions(queue, limit=5)

    assert plan.start == ("b2",)
    assert [(one.name, one.reason, one.message, one.blocked_by) for one in plan.wait] == [
        ("b1", reason, message, "restore r")
    ]
    assert [one.message for one in obstacles(queue, "b1", limit=5)] == [message]
    assert [(link.name, link.running) for link in ends_first(queue, "b1")] == [("restore r", running)]


def test_a_restore_takes_no_slot_of_backups():
    queue = QueueSnapshot(running=[], waiting=[backup("b", "c")], restores=[claim("r", "a", running=True)])

    assert plan_admissions(queue, limit=1).start == ("b",)


def test_a_glob_of_a_backup_means_a_namespace_that_only_a_restore_names():
    table = QueueTable()
    table.note(a_backup("b", "shop-*", phase=BackupPhase.QUEUED, ticket=1))
    around = Surroundings().with_restores((claim("r", "shop-eu", running=True),))

    assert plan_admissions(table.snapshot(around), limit=1).wait[0].blocked_by == "restore r"


names = st.sets(st.sampled_from("abcd"), max_size=3)


@settings(max_examples=200)
@given(st.data())
def test_whatever_comes_and_ends_nothing_shares_a_namespace_and_everything_starts_at_last(data):
    restores = [claim(f"r{i}", *data.draw(names)) for i in range(data.draw(st.integers(0, 4)))]
    backups = [backup(f"b{i}", *data.draw(names)) for i in range(data.draw(st.integers(0, 4)))]
    running_backups, waiting = [], list(backups)
    for _ in range(4 * (len(restores) + len(backups)) + 1):
        if data.draw(st.booleans()):
            started = plan_restores(restores, running_backups).start
            restores = [one._replace(running=one.running or one.name in started) for one in restores]
        else:
            queue = QueueSnapshot(running=running_backups, waiting=waiting, restores=restores)
            started = plan_admissions(queue, limit=2).start
            running_backups += [one for one in waiting if one.name in started]
            waiting = [one for one in waiting if one.name not in started]
        running = [*running_backups, *(one for one in restores if one.running)]
        assert all(not one.scope.shared_with(other.scope) for i, one in enumerate(running) for other in running[:i])
        if running and data.draw(st.booleans()):
            ended = data.draw(st.sampled_from(running)).name
            running_backups = [one for one in running_backups if one.name != ended]
            restores = [one for one in restores if one.name != ended]
    # Once what runs has ended, the head of the restores starts, and without restores the head of the backups.
    restores = [one for one in restores if not one.running]
    if restores:
        assert plan_restores(restores, []).start[0] == restores[0].name
    elif waiting:
        assert plan_admissions(QueueSnapshot(running=[], waiting=waiting), limit=1).start == (waiting[0].name,)


def test_a_waiting_restore_is_overtaken_by_no_backup_of_its_namespace():
    running, restores = [backup("b1", "a")], [claim("r", "a")]
    queue = QueueSnapshot(running=running, waiting=[backup("b2", "a"), backup("b3", "a")], restores=restores)

    assert plan_admissions(queue, limit=5).start == ()
    assert plan_restores(restores, []).start == ("r",)


def test_the_table_orders_by_when_a_restore_was_asked_for():
    table = RestoreTable()
    table.note(a_restore("second", "a", created=THEN + timedelta(seconds=1)))
    table.note(a_restore("first", "b"))
    table.note(a_restore("running", "c", phase=RestorePhase.IN_PROGRESS, created=THEN + timedelta(hours=1)))

    found = [(one.name, one.running) for one in table.claims(by_volume=False)]
    assert found == [("first", False), ("second", False), ("running", True)]
    assert table.anyone_waits()


def test_old_news_never_make_a_running_restore_wait_again():
    table = RestoreTable()
    table.note(a_restore("r", "a", phase=RestorePhase.IN_PROGRESS))
    table.note(a_restore("r", "a"))
    table.note(a_restore("r", "a").with_spec(cancel=True))

    assert [one.running for one in table.claims(by_volume=False)] == [True]


def test_news_of_a_namesake_that_is_gone_do_not_touch_the_one_that_lives():
    table = RestoreTable()
    living = a_restore("r", "a", phase=RestorePhase.IN_PROGRESS)
    table.note(living)
    table.forget(living.with_metadata(uid="another"))

    assert len(table.claims(by_volume=False)) == 1


def test_who_is_called_off_or_paused_keeps_nothing_from_backups():
    table = RestoreTable()
    table.note(a_restore("off", "a").with_spec(cancel=True))
    table.note(a_restore("waits", "b"))

    assert table.called_off() == ["off"]
    assert table.waiting == 1
    assert [one.name for one in table.claims(by_volume=False)] == ["waits"]
    assert table.claims(by_volume=False, paused=True) == ()


def test_where_overlap_is_by_volume_a_restore_claims_its_volumes():
    table = RestoreTable()
    table.note(a_restore("r", "a"))

    assert table.claims(by_volume=True)[0].scope == Scope(frozenset({"a/data"}))

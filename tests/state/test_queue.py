"""The queue as it is kept: the same whatever way the news came."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.queue.order import TICKET_GAP, tickets_after_move
from tidegate.decide.queue.plan import plan_admissions
from tidegate.decide.queue.surroundings import Surroundings
from tidegate.model.backups.backup import BackupPhase
from tidegate.state.queue import QueueTable
from tidegate.testing.resources.builders import a_backup

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUEUED, RUNNING, NEW = BackupPhase.QUEUED, BackupPhase.IN_PROGRESS, BackupPhase.NEW


def table_of(*backups):
    table = QueueTable()
    for backup in backups:
        table.note(backup)
    return table


def order(table, **around):
    return [contender.name for contender in table.snapshot(Surroundings(**around)).waiting]


def test_new_backups_get_tickets_behind_all_that_were_ever_given():
    far = int(NOW.timestamp() * 1_000_000) + 5_000_000
    table = table_of(a_backup("old", phase=BackupPhase.COMPLETED, ticket=far), a_backup("b"), a_backup("a"))

    assert table.tickets(NOW) == {"a": far + TICKET_GAP, "b": far + 2 * TICKET_GAP}


def test_a_ticket_is_the_time_of_joining():
    assert table_of(a_backup("a")).tickets(NOW) == {"a": int(NOW.timestamp() * 1_000_000)}


def test_a_backup_that_is_being_deleted_takes_no_place():
    gone = a_backup("gone", "a", phase=QUEUED, ticket=1).with_metadata(deletion_timestamp=NOW)
    table = table_of(gone, a_backup("late", "a", phase=QUEUED, ticket=2))

    assert (table.position("gone"), table.position("late")) == (None, 1)


def test_priority_is_a_head_start():
    minute = 60_000_000
    table = table_of(
        a_backup("early", phase=QUEUED, ticket=1 * minute),
        a_backup("late", phase=QUEUED, ticket=9 * minute),
        a_backup("urgent", phase=QUEUED, ticket=10 * minute).with_spec(priority=1),
        a_backup("idle", phase=QUEUED, ticket=0).with_spec(priority=-1),
    )

    assert order(table, head_start_seconds=300) == ["early", "idle", "urgent", "late"]
    assert order(table, head_start_seconds=0) == ["idle", "early", "late", "urgent"]
    assert order(table, head_start_seconds=3600) == ["urgent", "early", "late", "idle"]


@pytest.mark.parametrize(
    ("phase", "began", "ended", "holds"),
    [
        (BackupPhase.READY_TO_START, None, None, True),
        (RUNNING, NOW, None, True),
        (BackupPhase.DELETING, NOW, None, True),
        (BackupPhase.DELETING, NOW, NOW, False),
        (BackupPhase.DELETING, None, None, False),
        (BackupPhase.FINALIZING, NOW, None, False),
        (BackupPhase.WAITING_FOR_PLUGIN_OPERATIONS, NOW, None, False),
        (BackupPhase.COMPLETED, NOW, NOW, False),
    ],
)
def test_whoever_is_deleted_while_at_work_holds_its_slot_and_nobody_else_who_is_deleted(phase, began, ended, holds):
    backup = a_backup("b", "shop", phase=phase).with_metadata(deletion_timestamp=NOW)
    table = table_of(backup.with_status(start_timestamp=began, completion_timestamp=ended))

    assert (table.running() == ["b"], len(table) == 1) == (holds, holds)
    assert [runner.leaving for runner in table.snapshot(Surroundings()).running] == [True] * holds


def test_a_ticket_from_a_move_counts_at_once_and_is_pending_until_the_status_has_it():
    asked = a_backup("late", phase=QUEUED, ticket=9).with_spec(queue_ticket=1)
    table = table_of(a_backup("early", phase=QUEUED, ticket=5), asked)

    assert order(table) == ["late", "early"]
    assert [entry.name for entry in table.moved()] == ["late"]

    table.note(asked.with_status(queue_ticket=1))

    assert order(table) == ["late", "early"]
    assert table.moved() == []


@pytest.mark.parametrize("phase", [RUNNING, BackupPhase.COMPLETED, BackupPhase.READY_TO_START])
def test_a_move_no_longer_concerns_what_has_left_the_queue(phase):
    asked = a_backup("late", phase=QUEUED, ticket=9).with_spec(queue_ticket=1)
    table = table_of(asked)

    table.note(asked.with_status(phase=phase))

    assert table.moved() == []


def test_no_new_ticket_comes_before_one_that_a_move_gave():
    far = int(NOW.timestamp() * 1_000_000) + 5_000_000
    table = table_of(a_backup("last", phase=QUEUED, ticket=1).with_spec(queue_ticket=far), a_backup("new"))

    assert table.tickets(NOW) == {"new": far + TICKET_GAP}


PHASES = st.sampled_from(
    [NEW, QUEUED, RUNNING, BackupPhase.READY_TO_START, BackupPhase.COMPLETED, BackupPhase.DELETING]
)
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 6), PHASES, st.integers(0, 30), st.integers(-2, 2), st.sampled_from(["", "a", "b", "a*", "*b"])
    ),
    max_size=30,
)


@given(CHANGES, st.sampled_from([0, 1, 5]))
def test_a_table_told_of_every_change_equals_one_told_of_the_last_state(changes, head_start):
    told, last = QueueTable(), {}
    around = Surroundings(namespaces=frozenset({"a", "b"}), head_start_seconds=head_start)
    for number, phase, ticket, priority, namespace in changes:
        backup = a_backup(f"b{number}", *([namespace] if namespace else []), phase=phase, ticket=ticket * 1_000_000)
        backup = backup.with_status(start_timestamp=NOW if ticket % 2 else None)
        last[backup.name] = backup.with_spec(priority=priority)
        told.note(last[backup.name])
        told.snapshot(around)
    fresh = QueueTable()
    fresh.replace_all(last.values())

    one, other = told.snapshot(around), fresh.snapshot(around)

    assert list(one.waiting) == list(other.waiting)
    assert one.running == other.running
    assert [told.position(name) for name in sorted(last)] == [fresh.position(name) for name in sorted(last)]
    positions = sorted(filter(None, (told.position(name) for name in last)))
    assert positions == list(range(1, len(positions) + 1))
    assert {entry.name for entry in told.new()} == {name for name, backup in last.items() if backup.status.phase is NEW}
    fresh.replace_all([])
    assert (len(fresh), list(fresh.queued()), fresh.position("b0")) == (0, [], None)


VOLUMES = {("shop", "db"): {"app": "a"}, ("shop", "web"): {"app": "b"}, ("blog", "db"): {"app": "a"}}


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ({"app": "a"}, {"app": "b"}, True),
        ({"app": "a"}, {"app": "a"}, False),
        ({"app": "a"}, {}, False),
    ],
)
def test_overlap_by_volume_lets_two_backups_share_a_namespace(one, other, together):
    def backup(name, labels, **more):
        selector = {"labelSelector": {"matchLabels": labels}} if labels else {}
        made = a_backup(name, "shop", phase=QUEUED, ticket=1)
        return made.replace(spec=type(made.spec).model_validate(made.spec.to_wire() | selector))

    table = table_of(backup("one", one), backup("other", other))

    by_volume = plan_admissions(table.snapshot(Surroundings(volumes=VOLUMES)), limit=9)
    by_namespace = plan_admissions(table.snapshot(Surroundings()), limit=9)

    assert len(by_volume.start) == (2 if together else 1)
    assert by_namespace.start == ("one",)
    assert together or "volume" in by_volume.wait[0].message


QUEUES = st.lists(st.tuples(st.integers(0, 20), st.integers(-2, 2)), min_size=1, max_size=9)


@given(QUEUES, st.integers(0, 8), st.integers(-1, 12), st.sampled_from([0, 3]))
def test_a_move_brings_a_backup_to_its_place_and_leaves_the_others_in_order(queue, which, to, head_start):
    tickets = sorted(
        ((f"b{number}", ticket, priority) for number, (ticket, priority) in enumerate(queue)),
        key=lambda entry: (entry[1] - entry[2] * head_start * 1_000_000, entry[1], entry[0]),
    )
    name = tickets[which % len(tickets)][0]
    others = [entry[0] for entry in tickets if entry[0] != name]

    changed = tickets_after_move(tickets, name, to, head_start_seconds=head_start)

    moved = sorted(
        ((one, changed.get(one, ticket), priority) for one, ticket, priority in tickets),
        key=lambda entry: (entry[1] - entry[2] * head_start * 1_000_000, entry[1], entry[0]),
    )
    names = [entry[0] for entry in moved]
    wanted = [*others]
    wanted.insert(min(max(to, 1), len(tickets)) - 1, name)
    assert names == wanted


def test_a_move_among_distant_neighbours_changes_one_ticket_only():
    tickets = [(f"b{number}", number * TICKET_GAP, 0) for number in range(100)]

    assert tickets_after_move(tickets, "b90", 2, head_start_seconds=60) == {"b90": TICKET_GAP // 2}


@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(-10, 10)), max_size=30),
    st.integers(-10, 10),
    st.integers(0, 600),
)
def test_whoever_comes_after_the_largest_head_start_stands_behind(arrivals, priority, head_start):
    mine = a_backup("mine", phase=QUEUED, ticket=int(NOW.timestamp() * 1e6)).with_spec(priority=priority)
    table = table_of(mine)
    latest = timedelta(seconds=(10 - priority) * head_start)
    for number, (after, theirs) in enumerate(arrivals):
        late = NOW + latest + timedelta(seconds=1 + after)
        table.note(a_backup(f"x{number}", phase=QUEUED, ticket=int(late.timestamp() * 1e6)).with_spec(priority=theirs))

    assert order(table, head_start_seconds=head_start)[0] == "mine"


def test_what_is_tried_out_on_a_copy_does_not_concern_the_table():
    table = table_of(a_backup("runs", "a", phase=RUNNING), a_backup("waits", "a*", phase=QUEUED, ticket=1))
    before = plan_admissions(table.snapshot(Surroundings()), limit=9)

    twin = table.copy()
    twin.forget("runs")
    twin.note(a_backup("guest", "abc", phase=QUEUED, ticket=2))

    assert order(twin) == ["waits", "guest"]
    assert plan_admissions(table.snapshot(Surroundings()), limit=9) == before
    assert (len(table), table.running(), order(table)) == (2, ["runs"], ["waits"])

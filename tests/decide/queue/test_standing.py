"""One backup judged by itself: as a pass over the whole queue would judge it."""

from datetime import UTC, datetime
from itertools import combinations

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tidegate.decide.queue.claims import RestoreClaim
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.plan import plan_admissions
from tidegate.decide.queue.standing import standings
from tidegate.decide.queue.surroundings import Surroundings
from tidegate.decide.stores.target_away import no_answer
from tidegate.model.backups.backup import BackupPhase
from tidegate.state.queue import QueueTable
from tidegate.testing.resources.builders import a_backup

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PHASES = st.sampled_from([BackupPhase.NEW, BackupPhase.QUEUED, BackupPhase.QUEUED, BackupPhase.IN_PROGRESS])
WISHES = st.lists(st.sampled_from(["a", "b", "c", "a*", "?", "*"]), max_size=3)
BACKUPS = st.lists(
    st.tuples(PHASES, st.integers(0, 30), st.integers(-2, 2), WISHES, WISHES, st.sampled_from(["up", "down"])),
    max_size=12,
)
AROUND = st.builds(
    Surroundings,
    namespaces=st.just(frozenset({"a", "b"})),
    unavailable_targets=st.just({"down": no_answer("down")}),
    paused=st.booleans(),
    head_start_seconds=st.sampled_from([0, 5]),
    volumes=st.sampled_from([None, {("a", "one"): {}, ("a", "two"): {"tier": "gold"}, ("b", "one"): {}}]),
    restores=st.sampled_from([(), (RestoreClaim("r", Scope(frozenset({"b"})), running=True),)]),
)


def table_of(described):
    table = QueueTable()
    for number, (phase, ticket, priority, included, excluded, target) in enumerate(described):
        backup = a_backup(f"b{number}", *included, phase=phase, ticket=(ticket * 50 + number) * 1_000_000)
        wanted = {"priority": priority, "excluded_namespaces": tuple(excluded), "storage_location": target}
        table.note(backup.with_spec(**wanted))
    return table


def by_a_whole_pass(table, around, limit):
    whole = table.copy()
    whole.snapshot(around)  # tells it the head start
    for name, ticket in whole.tickets(NOW).items():
        whole.queue(whole.entry(name), ticket)
    snapshot = whole.snapshot(around)
    why = {one.name: one.obstacle for one in plan_admissions(snapshot, limit=limit).wait}
    return {one.name: told(place, why.get(one.name)) for place, one in enumerate(snapshot.waiting, start=1)}


def told(position, obstacle):
    return position, obstacle and (obstacle.reason, obstacle.message, obstacle.blocked_by)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(BACKUPS, AROUND, st.integers(1, 3))
def test_one_stands_where_a_whole_pass_puts_it_and_waits_for_the_same(described, around, limit):
    table = table_of(described)
    snapshot = table.snapshot(around)
    working = [one.scope for one in (*snapshot.running, *snapshot.restores)]
    assume(not any(one.shared_with(other) for one, other in combinations(working, 2)))

    found = standings(table, snapshot, [f"b{n}" for n in range(len(described))], limit=limit, now=NOW)

    assert {name: told(*one) for name, one in found.items()} == by_a_whole_pass(table, around, limit)

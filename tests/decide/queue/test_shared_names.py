"""What two backups share is said with names that exist or that a person wrote, never with invented ones."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tidegate.decide.queue.claims import RestoreClaim
from tidegate.decide.queue.overlap import ALL_OTHERS, Scope, common_name, is_glob, selects
from tidegate.decide.queue.plan import obstacles, plan_admissions
from tidegate.decide.queue.standing import standings
from tidegate.decide.queue.surroundings import Surroundings
from tidegate.decide.restores.queue import plan_restores
from tidegate.model.backups.backup import BackupPhase
from tidegate.state.queue import QueueTable
from tidegate.testing.resources.builders import THEN, a_backup

RUNNING, QUEUED = BackupPhase.IN_PROGRESS, BackupPhase.QUEUED


def table_of(*backups):
    table = QueueTable()
    table.replace_all(backups)
    return table


def waits_for(running, waiting, *, existing=(), **excluded):
    """What the obstacle of one that waits for one that runs says, each given by what it includes."""
    backups = [a_backup("aa", *running, phase=RUNNING), a_backup("bb", *waiting, phase=QUEUED, ticket=1)]
    backups = [
        backup.with_spec(excluded_namespaces=excluded.get(name, ()))
        for backup, name in zip(backups, ("aa", "bb"), strict=True)
    ]
    snapshot = table_of(*backups).snapshot(Surroundings(namespaces=frozenset(existing)))
    return plan_admissions(snapshot, limit=2).wait[0].obstacle


SENTENCES = [
    (("qa-*",), ("*-prod",), (), ", and `*-prod` and `qa-*` can match the same namespace", ["*-prod", "qa-*"]),
    (("shop", "qa-*"), ("blog", "*-prod"), (), ", and `*-prod` and `qa-*` can match the same namespace", None),
    (("qa-*",), ("qa-*",), (), " and shares namespaces that match `qa-*`", ["qa-*"]),
    ((), ("qa-*",), (), " and shares namespaces that match `qa-*`", ["qa-*"]),
    (("qa-*",), (), (), " and shares namespaces that match `qa-*`", ["qa-*"]),
    (("x", "*"), ("qa-*",), (), " and shares namespaces that match `qa-*`", ["qa-*"]),
    (("ns-?",), ("ns-[ab]",), (), ", and `ns-[ab]` and `ns-?` can match the same namespace", None),
    (("qa-*",), ("*-prod",), ("qa-prod", "qa-x"), " and shares namespace qa-prod", ["qa-prod"]),
    (("qa-*",), ("qa-new",), (), " and shares namespace qa-new", ["qa-new"]),
    (("qa-*",), ("qa-q",), (), " and shares namespace qa-q", ["qa-q"]),
    ((), ("qa-*",), ("qa-1", "qa-2"), " and shares namespaces qa-1, qa-2", ["qa-1", "qa-2"]),
    ((), (), ("qa-1",), " and shares all other namespaces", [ALL_OTHERS]),
]


@pytest.mark.parametrize(("running", "waiting", "existing", "sentence", "shared"), SENTENCES)
def test_known_namespaces_are_named_or_else_the_patterns_that_meet(running, waiting, existing, sentence, shared):
    obstacle = waits_for(running, waiting, existing=existing)

    assert obstacle.message == f"backup aa is running{sentence}"
    assert shared is None or obstacle.shared == shared


def test_a_pattern_is_named_that_can_match_what_the_other_does_not_exclude():
    obstacle = waits_for(("qa-*", "z*"), ("*-prod", "z?"), aa=("qa-prod", "z?"))

    assert obstacle.message == "backup aa is running, and `*-prod` and `qa-*` can match the same namespace"


def test_two_that_only_count_as_overlapping_are_not_said_to_match_the_same():
    many = [a_backup(f"b{number:02}", f"ns-{number}-*", phase=QUEUED, ticket=number + 1) for number in range(65)]

    plan = plan_admissions(table_of(*many).snapshot(Surroundings()), limit=9)

    assert plan.start == ("b00",)
    assert plan.wait[1].message == (
        "backup b00 is running, and with more than 64 patterns in the queue `ns-2-*` and `ns-0-*` count as overlapping"
    )


def test_one_that_waits_names_the_patterns_of_a_backup_ahead_wherever_it_is_asked():
    backups = [
        a_backup("runs", "elsewhere", phase=RUNNING),
        a_backup("aa", "qa-*", phase=QUEUED, ticket=1),
        a_backup("bb", "*-prod", phase=QUEUED, ticket=2),
    ]
    table = table_of(*backups)
    snapshot = table.snapshot(Surroundings())
    said = "backup aa is ahead in the queue, and `*-prod` and `qa-*` can match the same namespace"

    assert plan_admissions(snapshot, limit=1).wait[1].message == said
    assert obstacles(snapshot, "bb", limit=1)[0].message == said
    assert standings(table, snapshot, ["bb"], limit=1, now=THEN)["bb"].obstacle.message == said


def test_two_that_mean_the_same_in_other_words_each_read_their_own_pattern():
    backups = [
        a_backup("aa", "qa-*", phase=RUNNING),
        a_backup("bb", "*-prod", phase=QUEUED, ticket=1),
        a_backup("cc", "*-pro[d]", "*-prod", phase=QUEUED, ticket=2),
    ]

    plan = plan_admissions(table_of(*backups).snapshot(Surroundings()), limit=3)

    assert [waiting.obstacle.shared for waiting in plan.wait] == [["*-prod", "qa-*"], ["*-pro[d]", "qa-*"]]


def test_a_restore_that_waits_for_a_pattern_names_the_namespace_that_it_writes_to():
    restore = RestoreClaim("back", Scope(frozenset({"qa-prod"})), running=False)
    around = Surroundings().with_restores((restore,))
    running = table_of(a_backup("aa", "qa-*", phase=RUNNING)).snapshot(around).running

    assert plan_restores([restore], running).wait[0].message == "backup aa is running and shares namespace qa-prod"


PATTERNS = st.sampled_from(["qa-*", "*-prod", "qa-?", "q*", "ns-[ab]", "ns-*", "*", "qa-1", "shop", "*[0-9]"])
INCLUDES = st.lists(PATTERNS, max_size=3, unique=True).map(tuple)
EXCLUDES = st.lists(PATTERNS.filter(lambda pattern: pattern != "*"), max_size=2, unique=True).map(tuple)
EXISTING = st.frozensets(st.sampled_from(["qa-1", "qa-prod", "shop", "ns-a"]), max_size=3)


@given(INCLUDES, INCLUDES, EXCLUDES, EXCLUDES, EXISTING)
def test_whatever_two_backups_want_no_sentence_shows_an_invented_namespace(one, other, less, lesser, existing):
    backups = [
        a_backup("aa", *one, phase=RUNNING).with_spec(excluded_namespaces=less),
        a_backup("bb", *other, phase=QUEUED, ticket=1).with_spec(excluded_namespaces=lesser),
    ]
    plan = plan_admissions(table_of(*backups).snapshot(Surroundings(namespaces=existing)), limit=2)
    assume(plan.wait)
    obstacle = plan.wait[0].obstacle

    spelt = {pattern for pattern in (*one, *other, *less, *lesser) if not is_glob(pattern)}
    assert "9q7z9" not in obstacle.message
    if set(obstacle.shared) <= existing | spelt:
        for name in obstacle.shared:
            assert selects(name, included=one, excluded=less)
            assert selects(name, included=other, excluded=lesser)
    elif obstacle.shared != [ALL_OTHERS]:
        assert set(obstacle.shared) <= {*one, *other}
        assert len(obstacle.shared) == 1 or common_name(*obstacle.shared) is not None
        assert all(f"`{pattern}`" in obstacle.message for pattern in obstacle.shared)

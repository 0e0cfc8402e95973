"""What has to end first: from those in the way back to those that run."""

from tidegate.decide.queue.chain import Link, ends_first
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.plan import Contender, QueueSnapshot

EVERYTHING = Scope(frozenset(), all_but=True)


def contender(name, *namespaces):
    return Contender(name, Scope(frozenset(namespaces)) if namespaces else EVERYTHING)


def test_a_chain_leads_from_the_running_one_to_the_one_that_asks():
    queue = QueueSnapshot(
        running=[contender("runs", "a"), contender("unrelated", "z")],
        waiting=[contender("first", "a", "b"), contender("second", "b", "c"), contender("asks", "c")],
    )

    assert ends_first(queue, "asks") == [
        Link("runs", running=True, holds_up="first"),
        Link("first", running=False, holds_up="second"),
        Link("second", running=False, holds_up="asks"),
    ]


def test_several_in_the_way_are_all_told_and_each_once():
    queue = QueueSnapshot(
        running=[contender("r1", "a"), contender("r2", "b")],
        waiting=[contender("q", "a", "x"), contender("asks", "a", "b", "x"), contender("behind", "a")],
    )

    assert ends_first(queue, "asks") == [
        Link("r1", running=True, holds_up="asks"),
        Link("r2", running=True, holds_up="asks"),
        Link("q", running=False, holds_up="asks"),
    ]


def test_who_shares_nothing_waits_for_nobody_in_particular():
    queue = QueueSnapshot(running=[contender("r", "a")], waiting=[contender("asks", "b")], paused=True)

    assert ends_first(queue, "asks") == []
    assert ends_first(queue, "not in the queue") == []


def test_a_backup_of_everything_waits_for_all_but_the_list_stays_bounded():
    queue = QueueSnapshot(running=[contender("r", "a")], waiting=[*(contender(f"q{n}", f"n{n}") for n in range(99))])
    queue = QueueSnapshot(queue.running, [*queue.waiting, contender("everything")])

    found = ends_first(queue, "everything", at_most=10)

    assert len(found) == 10
    assert found[0] == Link("r", running=True, holds_up="everything")

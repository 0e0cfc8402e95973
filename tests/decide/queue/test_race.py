"""Who begins when, looked at once each: the same as the queue's own passes, one after the other."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.race import Racer, race
from tidegate.decide.queue.simulate import Job, simulate

SCOPES = st.builds(Scope, st.frozensets(st.sampled_from("abcd"), max_size=3), st.booleans())
RACERS = st.lists(st.tuples(SCOPES, st.integers(0, 5), st.sampled_from(["up", "up", "up", "down"])), max_size=14)
DOWN = frozenset({"down"})


def racers(described, prefix):
    return [Racer(f"{prefix}{n}", scope, float(took), target) for n, (scope, took, target) in enumerate(described)]


@given(st.lists(st.tuples(SCOPES, st.integers(0, 5), st.just("up")), max_size=3), RACERS, st.integers(1, 4))
def test_everybody_begins_when_pass_after_pass_would_let_him(running, waiting, limit):
    running, waiting = racers(running, "r"), racers(waiting, "w")
    jobs = [Job(one.name, one.scope, one.duration, target=one.target, started=True) for one in running]
    jobs += [Job(one.name, one.scope, one.duration, target=one.target) for one in waiting]
    passes = simulate(jobs, limit=limit, unavailable_targets=DOWN)

    starts = race(running, waiting, limit=limit, unavailable_targets=DOWN)

    told = {run.name: run.began for run in passes.runs if run.name.startswith("w")}
    assert {waiting[place].name: began for place, began in starts} == told


def test_nobody_looks_further_than_the_first_who_can_begin():
    looked_at = []

    def line():
        for number in range(1_000_000):
            looked_at.append(number)
            yield Racer(str(number), Scope(frozenset({str(number)})), 1.0)

    assert [start.place for start in islice(race([], line(), limit=2), 4)] == [0, 1, 2, 3]
    assert len(looked_at) == 4

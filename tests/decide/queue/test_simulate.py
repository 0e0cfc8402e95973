"""The queue on a clock that only jumps; and the bound on every wait."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.simulate import Job, simulate

EVERYTHING = Scope(frozenset(), all_but=True)


def job(name, *namespaces, duration=10.0, **more):
    return Job(name, Scope(frozenset(namespaces)) if namespaces else EVERYTHING, duration, **more)


def began(forecast):
    return {run.name: run.began for run in forecast.runs}


def test_the_worked_example_of_the_design_in_time():
    jobs = [
        job("backup1", "ns1", "ns2", duration=10, started=True),
        job("backup2", "ns2", "ns3", "ns5"),
        job("backup3", "ns4", "ns3"),
        job("backup4", "ns5", "ns6"),
        job("backup5", "ns8", "ns9"),
    ]

    forecast = simulate(jobs, limit=2)

    assert began(forecast) == {"backup1": 0, "backup5": 0, "backup2": 10, "backup3": 20, "backup4": 20}
    assert (forecast.makespan, forecast.slot_use) == (30, 50 / 60)
    assert (forecast.wait_percentile(50), forecast.wait_percentile(100)) == (10, 20)


def test_more_slots_never_help_backups_of_one_namespace():
    jobs = [job(f"b{number}", "same") for number in range(5)]

    assert simulate(jobs, limit=1).makespan == simulate(jobs, limit=5).makespan == 50


def test_a_job_whose_target_does_not_answer_never_starts_and_others_pass():
    jobs = [job("held", "a", target="down"), job("free", "b")]

    forecast = simulate(jobs, limit=1, unavailable_targets=frozenset({"down"}))

    assert (forecast.never, began(forecast)) == (("held",), {"free": 0})


def test_an_empty_queue_is_done_at_once():
    forecast = simulate([], limit=3)

    assert (forecast.makespan, forecast.slot_use, forecast.wait_percentile(95)) == (0, 0, 0)


NAMES = ["a", "b", "c"]
ARRIVALS = st.lists(
    st.tuples(st.floats(0, 500), st.sampled_from(NAMES), st.floats(1, 20), st.integers(-10, 10), st.booleans()),
    max_size=40,
)


@settings(max_examples=60)
@given(ARRIVALS, st.integers(-10, 10), st.integers(1, 4), st.integers(0, 30))
def test_nothing_starves_a_low_priority_backup_of_everything_starts_within_a_bound(
    arrivals, priority, limit, head_start
):
    """Whatever keeps arriving: only who comes within the largest head start can stand before it, and each runs once."""
    longest = 20.0
    others = [
        job(f"x{number}", *(() if everything else (name,)), duration=length, arrives=at, priority=theirs)
        for number, (at, name, length, theirs, everything) in enumerate(arrivals)
    ]
    mine = job("mine", arrives=100.0, priority=priority)

    forecast = simulate([*others, mine], limit=limit, head_start_seconds=head_start)

    last_before = 100.0 + (10 - priority) * head_start
    ahead = sum(1 for other in others if other.arrives <= last_before)
    assert began(forecast)["mine"] <= last_before + (ahead + 1) * longest


@settings(max_examples=60)
@given(ARRIVALS, st.integers(1, 4), st.integers(0, 30))
def test_whatever_comes_the_limit_holds_nothing_overlaps_and_all_end(arrivals, limit, head_start):
    jobs = [
        job(f"x{number}", *(() if everything else (name,)), duration=length, arrives=at, priority=theirs)
        for number, (at, name, length, theirs, everything) in enumerate(arrivals)
    ]
    scopes = {one.name: one.scope for one in jobs}

    forecast = simulate(jobs, limit=limit, head_start_seconds=head_start)

    assert sorted(run.name for run in forecast.runs) == sorted(scopes)
    for run in forecast.runs:
        beside = [o for o in forecast.runs if o.began <= run.began < o.ended and o.name != run.name]
        assert len(beside) < limit
        assert all(not scopes[run.name].shared_with(scopes[other.name]) for other in beside)
        assert run.waited >= 0

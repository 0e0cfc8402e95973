"""How long backups take, by what they are."""

from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from tidegate.state.durations import Durations

RUNS = st.lists(st.tuples(st.sampled_from(["nightly", "other"]), st.integers(0, 100), st.booleans()), max_size=30)


def test_durations_are_medians_of_the_same_ones_else_of_all():
    durations = Durations()
    assert durations.expected("nightly", otherwise=5) == 5
    for key, seconds in [("nightly", 10), ("nightly", 30), ("nightly", 11), ("other", 100)]:
        durations.note(key, seconds)

    assert durations.expected("nightly", otherwise=5) == 11
    assert durations.expected("never seen", otherwise=5) == 20.5


@given(RUNS)
def test_what_was_forgotten_counts_no_more(runs):
    durations, kept = Durations(), []
    for key, seconds, forgotten in runs:
        durations.note(key, seconds)
        kept.append((key, seconds))
        if forgotten:
            durations.forget(*kept.pop(len(kept) // 2))

    for key in ("nightly", "other", "never seen"):
        alike = [seconds for one, seconds in kept if one == key] or [seconds for _, seconds in kept] or [7]
        assert durations.expected(key, otherwise=7) == median(alike)

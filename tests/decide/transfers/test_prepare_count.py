"""The count of transfers that are being prepared: remembered, and never remembered wrong."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.transfers.prepare_count import KINDS, PREPARING, changes_count
from tidegate.decide.transfers.prepare_queue import PrepareQueue
from tidegate.errors import StoreUnavailable
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.state.prepare_count import PrepareCount

P = TransferPhase
DU, DD, PVB, PVR = "DataUpload", "DataDownload", "PodVolumeBackup", "PodVolumeRestore"


def counted_once():
    """A count that is up to date: nothing is being prepared."""
    count = PrepareCount()
    count.by_kind(lambda _kind: 0)
    count.recounts = 0
    return count


def constrained(count, length, stored):
    numbers = count.by_kind(lambda kind: Counter(stored)[kind])
    uploads = numbers[DU] + numbers[PVB]
    queue = PrepareQueue(length, 0, backups=uploads, restores=sum(numbers.values()) - uploads)
    return not queue.has_place(restore=False, node_has_room=True)


# The twelve cases of velero.md 6.5, without the four whose list fails: those are the next test. By design a length of 0
# is no limit here (there: nothing may go); the document that introduced it asks for a positive number.
CASES = [
    (0, [], [], False),
    (1, [], [], False),
    (1, [DU], [DU], True),
    (1, [DD], [DD], True),
    (1, [PVB], [PVB], True),
    (1, [PVR], [PVR], True),
    (3, [DU, PVB], [DU, PVB], False),
    (1, [DD, PVR], [DD, PVR], True),
]


@pytest.mark.parametrize(("length", "dirty", "stored", "expected"), CASES)
def test_only_kinds_that_changed_are_counted_again(length, dirty, stored, expected):
    count = counted_once()
    for kind in dirty:
        count.note(kind, P.NEW, P.ACCEPTED)

    assert constrained(count, length, stored) is expected
    assert count.recounts == len(dirty)
    assert constrained(count, length, [DU] * 99) is expected  # remembered: nothing changed
    assert count.recounts == len(dirty)


@pytest.mark.parametrize("kind", [DU, DD, PVB, PVR])
def test_a_count_that_failed_is_never_taken_for_zero_and_is_tried_again(kind):
    """The original goes on with the old number, which at the start is none: it lets everybody through."""
    count = counted_once()
    count.note(kind, P.NEW, P.ACCEPTED)

    def failing(_kind):
        raise StoreUnavailable("the store does not answer")

    with pytest.raises(StoreUnavailable):
        count.by_kind(failing)
    assert count.recounts == 0

    assert constrained(count, 1, [kind]) is True


def test_the_first_look_counts_every_kind():
    count = PrepareCount()

    assert constrained(count, 2, [DU, PVR]) is True
    assert count.recounts == len(KINDS)


CHANGES = [
    *((phase, phase, False) for phase in P),
    *((phase, P.ACCEPTED, True) for phase in P if phase is not P.ACCEPTED),
    (P.ACCEPTED, P.PREPARED, False),
    (P.ACCEPTED, P.FAILED, True),
    (P.ACCEPTED, P.CANCELED, True),
    (P.ACCEPTED, P.IN_PROGRESS, True),
    *((P.PREPARED, phase, True) for phase in P if phase is not P.PREPARED),
    (P.NEW, P.CANCELED, False),
    (P.IN_PROGRESS, P.COMPLETED, False),
    # Not so in the original, where one that is deleted by force stays counted until something else happens.
    (P.ACCEPTED, None, True),
    (P.PREPARED, None, True),
    (P.IN_PROGRESS, None, False),
    (None, P.NEW, False),
    (None, P.ACCEPTED, True),
    (None, P.PREPARED, True),
]


@pytest.mark.parametrize(("before", "after", "expected"), CHANGES)
def test_which_steps_make_the_count_out_of_date(before, after, expected):
    assert changes_count(before, after) is expected


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3), st.sampled_from([*P, None])), max_size=40))
def test_what_is_remembered_is_always_what_counting_would_give(steps):
    count, stored = PrepareCount(), {}

    def counting(kind):
        return sum(phase in PREPARING for (its, _), phase in stored.items() if its == kind)

    for kind, number, phase in steps:
        count.note(kind, stored.get((kind, number)), phase)
        stored[kind, number] = phase
        assert dict(count.by_kind(counting)) == {kind: counting(kind) for kind in KINDS}

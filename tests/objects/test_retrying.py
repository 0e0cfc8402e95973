import contextlib
from random import Random

import pytest

from tidegate.errors import NoSpace, NotFound, StoreBusy, StoreUnavailable, Unauthenticated, WorkCancelled
from tidegate.objects.backoff import EXPECTANT, HURRIED, PATIENT, Backoff
from tidegate.objects.memory import MemoryObjects
from tidegate.objects.pacing import InFlightLimit, PacedObjects
from tidegate.objects.retrying import RetryingObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.stores.faulty_objects import FaultyObjects


class LostAnswer(FaultyObjects):
    """Does what it is asked, and the first answer gets lost."""

    lost = False

    def put_if_absent(self, key, body, *, lazily=False):
        created = super().put_if_absent(key, body, lazily=lazily)
        if not self.lost:
            self.lost = True
            raise StoreUnavailable("the answer got lost")
        return created


@pytest.fixture
def waits():
    return []


@pytest.fixture
def faulty():
    return FaultyObjects(MemoryObjects(ManualClock()))


def insisting(inner, waits, *, patience=PATIENT, cancelled=False, at_first=None):
    def pause(seconds):
        waits.append(seconds)
        return cancelled

    return RetryingObjects(inner, patience=patience, pause=pause, random=Random(7), at_first=at_first)


def test_a_store_that_comes_back_is_not_noticed(faulty, waits):
    faulty.put("a", b"1")
    faulty.fail("get", StoreUnavailable("away"), times=4)

    assert insisting(faulty, waits).get("a", at_most=1) == b"1"
    assert len(waits) == 4


def test_a_person_is_told_soon_of_a_store_that_never_answered(faulty, waits):
    faulty.fail("get", StoreUnavailable("there is no bucket"), times=100)

    with pytest.raises(StoreUnavailable, match="no bucket"):
        insisting(faulty, waits, at_first=EXPECTANT).get("a", at_most=1)
    assert 0 < sum(waits) <= EXPECTANT.waiting_seconds


@pytest.mark.parametrize("answer", ["found", "not found"])
def test_a_store_that_has_answered_once_is_given_all_patience(faulty, waits, answer):
    faulty.put("found", b"1")
    store = insisting(faulty, waits, at_first=EXPECTANT)
    with contextlib.suppress(NotFound):
        store.get(answer, at_most=1)
    faulty.fail("get", StoreUnavailable("away"), times=100)

    with pytest.raises(StoreUnavailable):
        store.get("found", at_most=1)
    assert sum(waits) == pytest.approx(PATIENT.waiting_seconds)


@pytest.mark.parametrize("error", [NotFound("no"), Unauthenticated("no"), NoSpace("no")])
def test_what_will_not_change_is_not_asked_again(faulty, waits, error):
    faulty.fail("get", error)

    with pytest.raises(type(error)):
        insisting(faulty, waits).get("a", at_most=1)
    assert waits == []


def test_patience_ends_with_the_stores_own_sentence(faulty, waits):
    faulty.fail("head", StoreUnavailable("gone for good"), times=1000)

    with pytest.raises(StoreUnavailable, match="gone for good"):
        insisting(faulty, waits).head("a")
    assert sum(waits) == pytest.approx(PATIENT.waiting_seconds)


def test_the_hurried_ask_once(faulty, waits):
    faulty.fail("head", StoreUnavailable("away"))

    with pytest.raises(StoreUnavailable):
        insisting(faulty, waits, patience=HURRIED).head("a")
    assert waits == []


def test_waiting_ends_when_the_work_is_cancelled(faulty, waits):
    faulty.fail("put", StoreUnavailable("away"), times=5)

    with pytest.raises(WorkCancelled):
        insisting(faulty, waits, cancelled=True).put("a", b"")
    assert len(waits) == 1


def test_a_listing_that_breaks_in_the_middle_is_not_begun_again(waits):
    class Breaking(MemoryObjects):
        def list_all(self, prefix):
            yield next(super().list_all(prefix))
            raise StoreUnavailable("broke")

    inner = Breaking(ManualClock())
    inner.put("a", b"")
    listing = insisting(inner, waits).list_all("")

    assert next(listing).key == "a"
    with pytest.raises(StoreUnavailable):
        next(listing)


def test_an_object_whose_answer_got_lost_is_ours(waits):
    store = insisting(LostAnswer(MemoryObjects(ManualClock())), waits)

    assert store.put_if_absent("volume.cfg", b"mine")


def test_an_object_that_somebody_else_put_meanwhile_is_not_ours(waits):
    inner = FaultyObjects(MemoryObjects(ManualClock()))
    inner.put("volume.cfg", b"them")
    inner.fail("put_if_absent", StoreUnavailable("away"))

    assert not insisting(inner, waits).put_if_absent("volume.cfg", b"mine")


def test_waits_grow_and_a_busy_store_is_given_more_time():
    away, busy = Backoff(PATIENT, Random(1)), Backoff(PATIENT, Random(1))

    first = [away.after(StoreUnavailable("")) for _ in range(4)]
    assert first == sorted(first)
    assert busy.after(StoreBusy("")) > first[0]


def test_complaints_halve_the_requests_in_flight_once_per_round_and_answers_bring_them_back():
    limit = InFlightLimit()
    for _ in range(10):
        limit.was_too_much()
    assert limit.value == 32
    for _ in range(32):
        limit.went_well()
    assert limit.value in {32, 33}
    for _ in range(10_000):
        limit.went_well()
    assert limit.value == 64


def test_a_store_that_always_complains_is_still_asked_one_at_a_time(faulty):
    paced = PacedObjects(faulty)
    faulty.fail("get", StoreBusy("slow down"), times=2000)

    for _ in range(2000):
        with pytest.raises(StoreBusy):
            paced.get("a", at_most=1)

    assert paced.limit == 1

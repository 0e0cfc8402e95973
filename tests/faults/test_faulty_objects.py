"""Faults come as they are asked for, the same ones for the same seed."""

import pytest

from tidegate.errors import NoSpace, NotFound, StoreUnavailable, TidegateError, Unauthenticated
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.stores.faulty_objects import SLOW_SECONDS, FaultyObjects
from tidegate.testing.stores.weather import CALLS, Trouble, Weather


@pytest.fixture
def inner():
    inner = MemoryObjects(ManualClock())
    for number in range(4):
        inner.put(f"a/{number}", b"12345678")
    return inner


def store(inner, trouble, **options):
    return FaultyObjects(inner, weather=Weather(1, one_in=1, troubles=[trouble]), **options)


DO = {
    "get": lambda one: one.get("a/1", at_most=9),
    "head": lambda one: one.head("a/1"),
    "list_level": lambda one: one.list_level("a"),
    "list_all": lambda one: list(one.list_all("a")),
    "put": lambda one: one.put("a/new", b""),
    "put_if_absent": lambda one: one.put_if_absent("a/new", b""),
    "delete": lambda one: one.delete("a/1"),
    "flush": lambda one: one.flush(),
}
RAISES = {Trouble.REFUSED: Unauthenticated, Trouble.FULL: NoSpace}
SILENT = {Trouble.SLOW, Trouble.TRUNCATED, Trouble.STALE_LISTING}


@pytest.mark.parametrize(
    ("trouble", "method"),
    [(trouble, method) for trouble in Trouble for method in sorted(CALLS[trouble]) if trouble not in SILENT],
)
def test_every_call_can_fail_in_every_way_and_is_done_only_if_its_answer_was_lost(inner, trouble, method):
    before = {info.key for info in inner.list_all("")}

    with pytest.raises(RAISES.get(trouble, StoreUnavailable)):
        DO[method](store(inner, trouble))
    assert ({info.key for info in inner.list_all("")} != before) == (trouble is Trouble.LOST_ANSWER)


def test_a_broken_listing_shows_some_names_before_it_raises(inner):
    listing = store(inner, Trouble.BROKEN_LISTING).list_all("a")

    assert [next(listing).key, next(listing).key] == ["a/0", "a/1"]
    with pytest.raises(StoreUnavailable):
        next(listing)


def test_a_stale_listing_shows_what_there_was(inner):
    faulty = FaultyObjects(inner)
    old = faulty.list_level("a")
    inner.put("a/new", b"")
    faulty.weather = Weather(1, one_in=1, troubles=[Trouble.STALE_LISTING])

    assert faulty.list_level("a") == old
    assert list(faulty.list_all("a")) == []


def test_half_an_object_and_slow_objects(inner):
    waited = []

    assert store(inner, Trouble.TRUNCATED).get("a/1", at_most=9) == b"1234"
    assert store(inner, Trouble.SLOW, pass_time=waited.append).get("a/1", at_most=9) == b"12345678"
    assert waited == [SLOW_SECONDS]


def met(seed, calls):
    weather = Weather(seed, one_in=3)
    return {call: weather.meets(*call) for call in calls}


def test_the_weather_is_the_same_for_the_same_seed_in_whatever_order_calls_come():
    calls = [(method, f"key-{number}") for method in DO for number in range(20)]

    assert met(7, calls) == met(7, list(reversed(calls))) != met(8, calls)
    assert 20 < sum(trouble is not None for trouble in met(7, calls).values()) < 80


def test_fair_weather_changes_nothing(inner):
    faulty = FaultyObjects(inner, weather=Weather(1, one_in=10**9))

    assert faulty.get("a/1", at_most=9) == b"12345678"
    with pytest.raises(NotFound):
        faulty.head("a/9")
    assert issubclass(NotFound, TidegateError)

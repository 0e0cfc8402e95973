"""Every implementation of EndedSessions keeps the same promise."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from tidegate.access.ended_sessions import SqliteEndedSessions
from tidegate.ports.ended_sessions import EndedSessions, SessionsEndedInMemory

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WEEK = timedelta(days=7)


@contextmanager
def in_memory(_tmp_path):
    yield SessionsEndedInMemory()


@contextmanager
def on_disk(tmp_path):
    sessions = SqliteEndedSessions.open(tmp_path / "access.sqlite")
    yield sessions
    sessions.close()


IMPLEMENTATIONS: dict[type[EndedSessions], object] = {SessionsEndedInMemory: in_memory, SqliteEndedSessions: on_disk}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def ended(request, tmp_path):
    with IMPLEMENTATIONS[request.param](tmp_path) as sessions:
        yield sessions


async def test_a_session_is_over_from_the_moment_it_is_ended(ended):
    assert "one" not in ended

    await ended.end("one", NOW + WEEK, NOW)

    assert "one" in ended
    assert "another" not in ended


async def test_ending_a_session_twice_is_harmless(ended):
    await ended.end("one", NOW + WEEK, NOW)
    await ended.end("one", NOW + WEEK, NOW)

    assert "one" in ended


async def test_what_would_be_over_anyway_is_forgotten(ended):
    await ended.end("old", NOW + WEEK, NOW)

    await ended.end("new", NOW + 3 * WEEK, NOW + 2 * WEEK)

    assert ("old" in ended, "new" in ended) == (False, True)


async def test_what_is_on_disk_is_over_for_the_next_server_too(tmp_path):
    path = tmp_path / "access.sqlite"
    first = SqliteEndedSessions.open(path)
    await first.end("one", NOW + WEEK, NOW)
    first.close()

    second = SqliteEndedSessions.open(path)

    assert "one" in second
    second.close()

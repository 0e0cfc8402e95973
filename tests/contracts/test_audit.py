"""Every implementation of AuditLog keeps the same promise."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tidegate.access.audit import SqliteAudit
from tidegate.errors import InvalidInput
from tidegate.model.access.audit import AuditEntry, AuditFilter
from tidegate.ports.audit import LARGEST_PAGE, AuditLog

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def on_disk(tmp_path):
    return SqliteAudit.open(tmp_path / "access.sqlite")


IMPLEMENTATIONS: dict[type[AuditLog], object] = {SqliteAudit: on_disk}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def open_audit(request, tmp_path):
    """Open the same log, once more after the one before was closed."""
    opened = []

    def open_it():
        for one in opened:
            one.close()
        opened[:] = [IMPLEMENTATIONS[request.param](tmp_path)]
        return opened[0]

    yield open_it
    for one in opened:
        one.close()


@pytest.fixture
def audit(open_audit):
    return open_audit()


def entry(number, who="alice"):
    at = NOON + timedelta(minutes=number)
    return AuditEntry(at=at, who=who, address="::1", method="POST", what=f"backups/b{number}", outcome=201)


async def test_an_entry_is_durable_once_it_is_appended(open_audit):
    await open_audit().append(entry(0))

    assert (await open_audit().entries(AuditFilter())).entries == (entry(0),)


async def test_entries_come_page_by_page_the_newest_first(audit):
    await asyncio.gather(*(audit.append(entry(number)) for number in range(7)))

    seen, marker = [], ""
    while marker is not None:
        page = await audit.entries(AuditFilter(), limit=3, marker=marker)
        seen += page.entries
        marker = page.marker

    assert seen == [entry(number) for number in reversed(range(7))]


async def test_a_later_page_is_not_moved_by_new_entries(audit):
    for number in range(4):
        await audit.append(entry(number))
    first = await audit.entries(AuditFilter(), limit=2)

    await audit.append(entry(4))

    assert (await audit.entries(AuditFilter(), marker=first.marker)).entries == (entry(1), entry(0))


FILTERS = [
    (AuditFilter(who="bob"), [1]),
    (AuditFilter(what="b2"), [2]),
    (AuditFilter(since=NOON + timedelta(minutes=2)), [3, 2]),
    (AuditFilter(until=NOON + timedelta(minutes=1)), [0]),
    (AuditFilter(who="alice", since=NOON + timedelta(minutes=1), until=NOON + timedelta(minutes=3)), [2]),
]


@pytest.mark.parametrize(("wanted", "found"), FILTERS)
async def test_a_filter_selects_by_all_of_its_fields(audit, wanted, found):
    entries = [entry(0), entry(1, who="bob"), entry(2), entry(3)]
    for one in entries:
        await audit.append(one)

    assert list((await audit.entries(wanted)).entries) == [entries[number] for number in found]


@pytest.mark.parametrize("marker", ["x", "-1", "1 OR 1", "٣", "9" * 30])
async def test_a_marker_that_no_page_returned_is_refused(audit, marker):
    with pytest.raises(InvalidInput):
        await audit.entries(AuditFilter(), marker=marker)


@pytest.mark.parametrize("limit", [0, LARGEST_PAGE + 1])
async def test_a_page_of_no_or_too_many_entries_is_refused(audit, limit):
    with pytest.raises(InvalidInput):
        await audit.entries(AuditFilter(), limit=limit)


async def test_only_older_entries_are_forgotten(audit):
    for number in range(4):
        await audit.append(entry(number))

    await audit.forget_before(NOON + timedelta(minutes=2))

    assert (await audit.entries(AuditFilter())).entries == (entry(3), entry(2))

"""Times as cfgs hold them: UTC, RFC 3339, whole seconds, `Z`."""

from datetime import UTC, datetime, timedelta
from typing import overload

LATEST_SECONDS = 253_402_300_799
"""The end of the year 9999: no calendar of ours goes further."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_time(moment: datetime) -> str:
    """The stored form of an aware time."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")[:19] + "Z"


def parse_time(text: str) -> datetime | None:
    """The time that a cfg tells, or None if it tells none that can be understood: old cfgs need not be clean."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def moment_of(time_ns: int) -> datetime:
    """The time of a file, held within the years 1 to 9999: a file system may know others, a calendar does not."""
    try:
        return _EPOCH + timedelta(microseconds=time_ns // 1000)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if time_ns > 0 else datetime.min.replace(tzinfo=UTC)


@overload
def to_seconds(moment: datetime) -> int: ...
@overload
def to_seconds(moment: datetime | None) -> int | None: ...
def to_seconds(moment: datetime | None) -> int | None:
    """Whole seconds since 1970, held within what a calendar can show: the form of indexes and of the catalogue."""
    return None if moment is None else max(0, min(LATEST_SECONDS, int(moment.timestamp())))

"""Times as cfgs hold them: UTC, RFC 3339, whole seconds, `Z`."""

from datetime import UTC, datetime


def format_time(moment: datetime) -> str:
    """The stored form of an aware time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> datetime | None:
    """The time that a cfg tells, or None if it tells none that can be understood: old cfgs need not be clean."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)

"""When a schedule runs: five cron fields and a time zone, as a sequence of moments.

Two kinds of schedules meet a change of the clocks differently, as in Debian's cron. One that names hours means times
on the wall: a time that does not exist that day runs right after the gap, one that exists twice runs once. One that
runs in every hour means a rhythm: it goes on in the repeated hour, or there would be none for two hours.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property, lru_cache
from typing import Self
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from tidegate.model.frozen import Model

LONGEST_CRON = 200
_FIELDS = 5
_EVERY_HOUR = frozenset(range(24))
_SHORT_FORMS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
# Only to read an expression: any moment will do.
_ANY_MOMENT = datetime(2024, 1, 1, tzinfo=UTC)
# Windows in which the latest time is looked for: short ones first, because a schedule may run every minute.
_FIRST_WINDOW = timedelta(hours=1)
_WINDOW_GROWTH = 8


@lru_cache(maxsize=1024)
def read_zone(name: str) -> tzinfo:
    """The time zone of this name; raises ValueError if nobody knows it."""
    if name == "UTC":
        return UTC  # also where no time zone data is installed
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"{name!r} is not a known time zone: write for example UTC or Europe/Berlin") from None


def read_fields(text: str) -> tuple[str, ...]:
    """The five fields, short forms such as @daily written out; raises ValueError with what is wrong."""
    if len(text) > LONGEST_CRON:
        raise ValueError(f"a cron expression has at most {LONGEST_CRON} characters, this one has {len(text)}")
    fields = tuple(_SHORT_FORMS.get(text.strip().lower(), text).split())
    if len(fields) != _FIELDS:
        hint = "minute hour day-of-month month day-of-week, for example 30 2 * * *"
        raise ValueError(f"{text!r} is not a cron expression: it needs five fields, {hint}")
    try:
        sequence = CronSim(" ".join(fields), _ANY_MOMENT)
    except CronSimError as error:
        raise ValueError(f"{text!r} is not a cron expression: {str(error).lower()}") from None
    if next(sequence, None) is None:
        raise ValueError(f"{text!r} never comes: no date of the next 50 years fits")
    return fields


class CronNumbers(Model):
    """The numbers that the fields of an expression stand for, in ascending order."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    """Of the month."""
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    """0 is Sunday."""
    either_day: bool
    """Whether a day of the month or a weekday is enough; else it takes both."""


def numbers_of(text: str) -> CronNumbers | None:
    """Return them; None where a day is not a number. Raise ValueError with what is wrong."""
    read = CronSim(" ".join(read_fields(text)), _ANY_MOMENT)
    weekdays = {day % 7 for day in read.weekdays if isinstance(day, int)}
    if any(not isinstance(day, int) for day in read.weekdays) or min(read.days) < 0:
        return None
    return CronNumbers(
        minutes=tuple(sorted(read.minutes)),
        hours=tuple(sorted(read.hours)),
        days=tuple(sorted(read.days)),
        months=tuple(sorted(read.months)),
        weekdays=tuple(sorted(weekdays)),
        either_day=not read.day_and,
    )


@dataclass(frozen=True)
class Cron:
    """Moments that come again and again. Make it with `read`."""

    fields: tuple[str, ...]
    zone: tzinfo

    @classmethod
    def read(cls, text: str, timezone: str) -> Self:
        """Raises ValueError for an expression or a zone that makes no sense."""
        return cls(read_fields(text), read_zone(timezone))

    @cached_property
    def keeps_rhythm(self) -> bool:
        """Whether it runs in every hour of its days, so that real time counts and not the wall's."""
        return set(CronSim(" ".join(self.fields), _ANY_MOMENT).hours) >= _EVERY_HOUR

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Every time later than `moment`, in the zone of the schedule."""
        for time in CronSim(self._for_cronsim, moment.astimezone(self.zone)):
            # In the repeated hour a wall time that already was would come once more.
            if time.astimezone(UTC) > moment.astimezone(UTC):
                yield time

    def first_after(self, moment: datetime) -> datetime | None:
        """The first of them; None if there is none within 50 years."""
        return next(self.after(moment), None)

    def last_between(self, after: datetime, until: datetime) -> datetime | None:
        """The latest time later than `after` and not later than `until`; None if there is none."""
        window = _FIRST_WINDOW
        while True:
            begin = max(after, until - window) if window < until - after else after
            latest = None
            for time in self.after(begin):
                if time.astimezone(UTC) > until.astimezone(UTC):
                    break
                latest = time
            if latest is not None or begin == after:
                return latest
            window *= _WINDOW_GROWTH

    @cached_property
    def _for_cronsim(self) -> str:
        """The fields so that cronsim sees which kind of schedule this is: it looks for a star at the beginning."""
        minute, hour, *days = self.fields
        if self.keeps_rhythm:
            hour = "*"
        else:
            minute, hour = minute.replace("*", "0-59"), hour.replace("*", "0-23")
        return " ".join((minute, hour, *days))

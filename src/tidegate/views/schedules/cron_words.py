"""Cron expressions in words, where a person would say it that way; else the expression itself."""

from tidegate.model.schedules.cron import read_fields

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT_DAYS = {day[:3].upper(): day for day in _DAYS}
_SHORTEST_RHYTHM = 2


def cron_words(text: str, timezone: str) -> str:
    """`every day at 02:30 Europe/Berlin`."""
    try:
        return f"{cron_phrase(text) or text} {timezone}"
    except ValueError:
        return f"{text} {timezone}"


def cron_phrase(text: str) -> str:
    """Return `every day at 02:30`; nothing where a person would not say it. Raise ValueError with what is wrong."""
    fields = read_fields(text)
    return _rhythm(fields) or _time_of_day(fields)


def _rhythm(fields: tuple[str, ...]) -> str:
    minute, hour, *days = fields
    if days != ["*", "*", "*"]:
        return ""
    if (minute, hour) == ("*", "*"):
        return "every minute"
    # */7 is not every seven minutes: it begins anew with each hour.
    if hour == "*" and (step := _even_step(minute, 60)):
        return f"every {step} minutes"
    if hour == "*" and minute.isdigit():
        return "every hour" if minute == "0" else f"every hour at minute {int(minute)}"
    if minute.isdigit() and (step := _even_step(hour, 24)):
        return f"every {step} hours" + ("" if minute == "0" else f" at minute {int(minute)}")
    return ""


def _time_of_day(fields: tuple[str, ...]) -> str:
    minute, hours, day, month, weekday = fields
    if not minute.isdigit() or not all(hour.isdigit() for hour in hours.split(",")) or month != "*":
        return ""
    at = " and ".join(f"{int(hour):02}:{int(minute):02}" for hour in hours.split(","))
    if (day, weekday) == ("*", "*"):
        return f"every day at {at}"
    if day == "*" and weekday.upper() in {"1-5", "MON-FRI"}:
        return f"Monday to Friday at {at}"
    names = [_day_name(part) for part in weekday.split(",")]
    if day == "*" and all(names):
        return f"every {' and '.join(names)} at {at}"
    if weekday == "*" and day.isdigit():
        return f"on day {int(day)} of every month at {at}"
    return ""


def _even_step(field: str, whole: int) -> int:
    """The step of `*/n` if it divides the whole, else 0."""
    star, _, step = field.partition("/")
    if star != "*" or not step.isdigit() or int(step) < _SHORTEST_RHYTHM or whole % int(step):
        return 0
    return int(step)


def _day_name(part: str) -> str:
    if part.isdigit() and int(part) < len(_DAYS):
        return _DAYS[int(part)]
    return _SHORT_DAYS.get(part.upper(), "")

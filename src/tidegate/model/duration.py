"""Lengths of time as people write them: `90s`, `30m`, `4h`, `1h30m`, `30d`."""

import re
from datetime import timedelta
from functools import lru_cache
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(value: object) -> timedelta:
    """Read `1h30m` and the like; a bare number is refused because nobody knows its unit."""
    if isinstance(value, timedelta):
        return value
    return _parse_text(str(value).strip())


# The same few durations stand in every resource that is read; without this they are half of the cost of reading it.
@lru_cache(maxsize=1024)
def _parse_text(text: str) -> timedelta:
    if text == "0":
        return timedelta()
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r} is not a duration: write for example 90s, 30m, 4h, 1h30m or 30d")
    return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text)))


@lru_cache(maxsize=1024)
def format_duration(value: timedelta) -> str:
    """The shortest exact form: `1h30m`, never `5400s`. Days stay hours-free only when whole."""
    seconds = int(value.total_seconds())
    if seconds == 0:
        return "0s"
    parts = []
    for unit, length in _UNITS.items():
        count, seconds = divmod(seconds, length)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["30m", "4h", "30d"]}),
]

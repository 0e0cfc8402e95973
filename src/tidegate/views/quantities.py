"""Bytes, rates and lengths of time as people read them.

What is not known is told as "unknown": a wrong ETA and a bar over 100 % have cost other tools their users' trust.
"""

from datetime import timedelta

UNKNOWN = "unknown"

_STEP = 1024
_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
# Below this a value keeps one decimal: 1.5 GiB says more than 2 GiB, 512.3 GiB does not say more than 512 GiB.
_DECIMALS_BELOW = 100
_DAY = 86_400
_DAYS_A_YEAR = 365.25
# From here on hours are noise, and from so many years on months are.
_EXACT_BELOW_DAYS = 60
_ROUND_YEARS = 5
_TIME_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def human_bytes(count: int, *, exact: bool = False) -> str:
    """`1.5 GiB`, or with `exact` the plain number for those who calculate with it."""
    if exact:
        return str(count)
    if abs(count) < _STEP:
        return f"{count} B"
    value = float(count)
    text = ""
    for unit in _UNITS:
        value /= _STEP
        text = f"{value:.1f} {unit}" if abs(value) < _DECIMALS_BELOW else f"{value:.0f} {unit}"
        # Compared after rounding, so that 1023.9 KiB does not become "1024 KiB".
        if round(abs(value)) < _STEP:
            break
    return text


def human_rate(bytes_per_second: float | None, *, exact: bool = False) -> str:
    """`110 MiB/s`; unknown when nobody measured it."""
    if bytes_per_second is None or bytes_per_second < 0:
        return UNKNOWN
    return f"{human_bytes(round(bytes_per_second), exact=exact)}/s"


def human_duration(length: timedelta) -> str:
    """The two largest units: `3m12s`, `2h5m`, `3d4h`. Clocks of two machines differ, so below zero is `0s`."""
    seconds = max(0, int(length.total_seconds()))
    parts: list[str] = []
    for unit, size in _TIME_UNITS:
        count, seconds = divmod(seconds, size)
        if count or (parts and unit != "s"):
            parts.append(f"{count}{unit}" if count else "")
    return "".join(parts[:2]) or "0s"


def human_span(length: timedelta) -> str:
    """A length as a person says it: `100 years`, `90d`, and below two months its two largest units."""
    days = round(length.total_seconds() / _DAY)
    if days < _EXACT_BELOW_DAYS:
        return human_duration(length)
    if days < 2 * _DAYS_A_YEAR:
        return f"{days}d"
    months = round(days * 12 / _DAYS_A_YEAR)
    years, rest = divmod(months, 12)
    if years >= _ROUND_YEARS or not rest:
        return f"{round(months / 12)} years"
    return f"{years} years {rest} month{'s'[: rest > 1]}"


def new_in_store(fresh: int, size: int, *, exact: bool = False) -> str:
    """What a backup of so many bytes added to the store, and why that may be more than itself."""
    told = human_bytes(fresh, exact=exact)
    if not fresh:
        return "nothing, all of it was there already" if size else "nothing"
    if fresh > size:
        why = "because a volume is stored in whole blocks, and a tree with a list of its files"
        return f"{told}, more than the {human_bytes(size, exact=exact)} backed up, {why}"
    share = fresh * 100 // size
    return f"{told}, {share or 'less than 1'} % of the {human_bytes(size, exact=exact)} backed up"


def ordinal_of(done: int, total: int) -> str:
    """`1 of 3`, never more than all."""
    return f"{min(done, total)} of {total}"


def counted(number: int, noun: str) -> str:
    """`1 backup`, `2 backups`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""Amounts of bytes as people write them: `10MiB`, `1.5G`, `65536`."""

import re

_AMOUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([A-Za-z]*)")
_UNITS: dict[str, int] = {"": 1, "b": 1} | {
    f"{letter}{ending}": base**power
    for power, letter in enumerate("kmgt", start=1)
    for ending, base in (("", 1000), ("b", 1000), ("i", 1024), ("ib", 1024))
}
# Slower than this a single block would take longer than a lock may be silent.
LEAST_RATE = 64 * 1024


def read_quantity(text: str) -> int:
    """Bytes; raises ValueError with a sentence. `M` and `MB` are a million, `Mi` and `MiB` 1024 times 1024."""
    found = _AMOUNT.fullmatch(text.strip())
    unit = _UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None:
        raise ValueError(f"{text[:40]!r} is no amount of bytes; write for example 10MiB, 500K or 1.5G")
    return round(float(found[1]) * unit)


def read_rate(text: str) -> int | None:
    """Bytes per second, with or without `/s`; None, no limit, for 0. Raises ValueError with a sentence."""
    rate = read_quantity(text.strip().removesuffix("/s"))
    if rate == 0:
        return None
    if rate < LEAST_RATE:
        raise ValueError(f"{text[:40]} is too slow to get anywhere; the least is 64KiB per second, and 0 is no limit")
    return rate

"""How long backups take: the median of the same ones in the past, kept up to date run by run."""

from bisect import bisect_left, insort


class Durations:
    """Of runs that ended well, by a key that tells what was backed up. Asking costs the same after many."""

    def __init__(self) -> None:
        self._by_key: dict[str, list[float]] = {}
        self._all: list[float] = []

    def note(self, key: str, seconds: float) -> None:
        """One more took this long."""
        insort(self._by_key.setdefault(key, []), seconds)
        insort(self._all, seconds)

    def forget(self, key: str, seconds: float) -> None:
        """One that was noted counts no more."""
        alike = self._by_key[key]
        del alike[bisect_left(alike, seconds)]
        if not alike:
            del self._by_key[key]
        del self._all[bisect_left(self._all, seconds)]

    def expected(self, key: str, *, otherwise: float) -> float:
        """Seconds: the median of this key, else of all, else what the caller says."""
        alike = self._by_key.get(key) or self._all
        return _middle(alike) if alike else otherwise


def _middle(ordered: list[float]) -> float:
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    return sum(middle) / len(middle)

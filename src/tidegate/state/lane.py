"""Transfers that wait for the same thing, in their order: what stops one of them stops them all.

So a gate looks at lanes, of which there are few, and not at transfers, of which there may be very many.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from tidegate.decide.transfers.entry import Place


class Lane:
    """Sorted by place, and beside that by the reason that was written down for each."""

    def __init__(self) -> None:
        self._order: list[Place] = []
        self._told: dict[str, dict[Place, None]] = {}

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Place]:
        return iter(self._order)

    def __getitem__(self, index: int) -> Place:
        return self._order[index]

    def add(self, place: Place, reason: str) -> None:
        """One more; `reason` is what it was told, empty if nothing."""
        insort(self._order, place)
        self._told.setdefault(reason, {})[place] = None

    def remove(self, place: Place, reason: str) -> None:
        """One less."""
        del self._order[bisect_left(self._order, place)]
        del self._told[reason][place]
        if not self._told[reason]:
            del self._told[reason]

    def ahead_of(self, place: Place) -> int:
        """How many stand before it, whether it is in this lane or not."""
        return bisect_left(self._order, place)

    def told(self, reason: str) -> Iterable[Place]:
        """Those that were told this."""
        return self._told.get(reason, ())

    def told_otherwise(self, reason: str) -> Iterator[Place]:
        """Those that were told something else; costs nothing where all were told this."""
        return (place for told, places in self._told.items() if told != reason for place in places)

    def told_counts(self) -> dict[str, int]:
        """How many were told what."""
        return {reason: len(places) for reason, places in self._told.items()}

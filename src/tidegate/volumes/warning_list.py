"""Sentences for a person about files: as many as a person reads, and how many more there were."""

from collections.abc import Iterable

_MOST = 1000


class WarningList:
    """Keeps the first thousand and counts the others, so a million files with one problem cost nothing."""

    def __init__(self, sentences: Iterable[str] = ()) -> None:
        self.first: list[str] = []
        self.more = 0
        for sentence in sentences:
            self.add(sentence)

    def add(self, sentence: str) -> None:
        """Keep or count one."""
        if len(self.first) < _MOST:
            self.first.append(sentence)
        else:
            self.more += 1

    def take_over(self, other: "WarningList") -> None:
        """Add what another list has."""
        self.add_all(other.first, more=other.more)

    def add_all(self, sentences: Iterable[str], *, more: int) -> None:
        """Add these, and count so many more."""
        for sentence in sentences:
            self.add(sentence)
        self.more += more

    def sentences(self) -> list[str]:
        """Those that were kept; if there were more, the last one says how many."""
        return [*self.first, f"and {self.more} more"] if self.more else [*self.first]

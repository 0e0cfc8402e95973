"""What decisions read of the queue: a look at one moment, whoever keeps it up to date."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tidegate.decide.queue.entry import Key, QueueEntry
from tidegate.decide.queue.figures import Figure
from tidegate.decide.queue.overlap import Scope
from tidegate.decide.queue.plan import Contender


class QueueView(Protocol):
    """The backups that are New, wait or run. It stays as it is while one decision is made."""

    def entry(self, name: str) -> QueueEntry | None:
        """One that is New, waits or runs."""
        ...

    def contender(self, name: str) -> Contender:
        """The same, as a plan wants it."""
        ...

    def scope(self, entry: QueueEntry) -> Scope:
        """What it touches."""
        ...

    def place(self, name: str) -> Key | None:
        """What the queue orders it by; None for one that does not wait."""
        ...

    def places(self) -> Sequence[Key]:
        """Of all that wait, in their order."""
        ...

    def places_of_new(self, now: datetime) -> dict[str, Key]:
        """Where those that have no ticket yet will stand."""
        ...

    def ahead(self, place: Key) -> int:
        """How many wait before this place."""
        ...

    def first_in_the_way_of(self, scope: Scope, before: Key) -> Key | None:
        """Who waits ahead of this place and shares something with the scope."""
        ...


class PastDurations(Protocol):
    """How long backups took."""

    def expected(self, key: str, *, otherwise: float) -> float:
        """Seconds: the median of this key, else of all, else what the caller says."""
        ...


class PastRuns(Protocol):
    """What is known of backups that began, and of those that ended."""

    @property
    def durations(self) -> PastDurations:
        """Of those that ended well, by what they are."""
        ...

    def of(self, name: str) -> Figure | None:
        """What is known of one."""
        ...

"""Who in the queue was first to want a name: an index, so that one backup is judged without judging all."""

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import NamedTuple

from tidegate.decide.queue.overlap import Scope, is_glob

Key = tuple[int, int, str]
"""A place in the queue: the number that it is ordered by, the ticket, the name."""


class Wanted(NamedTuple):
    """What a backup is about. Many backups want the same, so it is kept once."""

    included: tuple[str, ...]
    excluded: tuple[str, ...]
    labels: tuple[frozenset[tuple[str, str]], ...] = ()
    """Volumes that carry all labels of one of these; empty: all volumes."""
    hooks: bool = False

    @property
    def patterns(self) -> tuple[str, ...]:
        """All that it spells out."""
        return (*self.included, *self.excluded)

    @property
    def needs_universe(self) -> bool:
        """Whether other backups' namespaces matter to what its globs mean."""
        return any(is_glob(pattern) and pattern != "*" for pattern in self.patterns)

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """Where all that it means is; None if that can be anywhere."""
        return self.included if self.included and not any(map(is_glob, self.included)) else None


class WishIndex:
    """The places of all that wait, by what they want."""

    def __init__(self) -> None:
        self._places: dict[Wanted, list[Key]] = {}
        self._in_namespace: dict[str, dict[Wanted, None]] = {}
        self._anywhere: dict[Wanted, None] = {}

    def copy(self) -> "WishIndex":
        """Another one like it."""
        twin = WishIndex()
        for wish, places in self._places.items():
            for place in places:
                twin.add(wish, place)
        return twin

    def add(self, wish: Wanted, place: Key) -> None:
        """Somebody at this place wants this."""
        if wish not in self._places:
            self._places[wish] = []
            for wishes in self._shelves(wish):
                wishes[wish] = None
        insort(self._places[wish], place)

    def remove(self, wish: Wanted, place: Key) -> None:
        """He does not wait there any more."""
        places = self._places[wish]
        del places[bisect_left(places, place)]
        if places:
            return
        del self._places[wish]
        for wishes in self._shelves(wish):
            del wishes[wish]
        for namespace in wish.namespaces or ():
            if not self._in_namespace.get(namespace, True):
                del self._in_namespace[namespace]

    def first_in_the_way_of(self, scope: Scope, before: Key, meaning: Callable[[Wanted], Scope]) -> Key | None:
        """The first place ahead of `before` that shares something with the scope."""
        found = None
        for wish in self._near(scope):
            first = self._places[wish][0]
            if first < (found or before) and scope.shared_with(meaning(wish)):
                found = first
        return found

    def _near(self, scope: Scope) -> list[Wanted]:
        """All wishes that could share something with it."""
        if scope.all_but:
            return list(self._places)
        namespaces = {name.partition("/")[0] for name in scope.names}
        near = dict(self._anywhere)
        for namespace in namespaces:
            near |= self._in_namespace.get(namespace, {})
        return list(near)

    def _shelves(self, wish: Wanted) -> list[dict[Wanted, None]]:
        if wish.namespaces is None:
            return [self._anywhere]
        return [self._in_namespace.setdefault(namespace, {}) for namespace in set(wish.namespaces)]

"""Who in the queue was first to want a name: an index, so that one backup is judged without judging all."""

from bisect import bisect_left, insort
from collections.abc import Callable

from tidegate.decide.queue.entry import Key, Wanted
from tidegate.decide.queue.overlap import Scope


class ScopeIndex:
    """The places of all that wait, by what they want."""

    def __init__(self) -> None:
        self._places: dict[Wanted, list[Key]] = {}
        self._in_namespace: dict[str, dict[Wanted, None]] = {}
        self._anywhere: dict[Wanted, None] = {}

    def copy(self) -> "ScopeIndex":
        """Another one like it."""
        twin = ScopeIndex()
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

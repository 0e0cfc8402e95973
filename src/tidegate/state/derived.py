"""Values that follow from whole kinds, computed once and again after a change of any of them."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from tidegate.model.resource import Resource
from tidegate.state.cached_store import CachedStore

T = TypeVar("T")


class Derived(Generic[T]):
    """`compute` gets the resources of each kind, in the order of `kinds`. It is pure."""

    def __init__(self, store: CachedStore, compute: Callable[..., T], *kinds: type[Resource]) -> None:
        self._store = store
        self._compute = compute
        self._kinds = kinds
        self._last: tuple[tuple[int, ...], T] | None = None

    async def now(self) -> T:
        """The value as things are. Until all kinds are loaded, it is made anew from the store each time."""
        changes = self._changes()
        if self._last is not None and self._last[0] == changes:
            return self._last[1]
        found: list[Any] = [(await self._store.list(kind)).items for kind in self._kinds]
        value = self._compute(*found)
        if changes is not None:
            self._last = (changes, value)
        return value

    def _changes(self) -> tuple[int, ...] | None:
        caches = [self._store.cache(kind) for kind in self._kinds]
        return tuple(cache.changes for cache in caches) if all(cache.loaded for cache in caches) else None

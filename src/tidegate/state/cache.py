"""What is held of each kind: everything that exists, as last heard of, and our own writes at once."""

import asyncio
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar, cast

from tidegate.model.labels import EVERYTHING, Selector
from tidegate.model.resource import Ref, Resource
from tidegate.ports.resource_store import Change
from tidegate.state.index import Index
from tidegate.state.paging import PlaceInList

R = TypeVar("R", bound=Resource)

Listener = Callable[[Change, Resource], None]
"""Hears of each change of the cache right after it, in order. Must not raise and must not wait."""


class _Held(NamedTuple):
    """One resource. What has reached its end is kept packed: there may be very many, and few of them are read."""

    version: str
    uid: str
    content: Resource | bytes


class KindCache(Generic[R]):
    """All resources of one kind. Sync, and consistent between two waits of its caller."""

    def __init__(self, kind: type[R], listeners: Sequence[Listener]) -> None:
        self.kind = kind
        self._loaded = asyncio.Event()
        self.version = ""
        """Of the kind, as the last list or change had it: where a reader of `page` watches from."""
        self.changes = 0
        """How many changes there were: what was computed from the kind is good as long as this stays the same."""
        self._listeners = listeners
        self._index: Index[_Held] = Index()

    @property
    def loaded(self) -> bool:
        """Whether everything was listed once. Before that, what is not here may exist all the same."""
        return self._loaded.is_set()

    async def until_loaded(self) -> None:
        """Wait for the first list."""
        await self._loaded.wait()

    def listed(self, version: str) -> None:
        """What is held now is everything that existed at this version of the kind, or newer."""
        self.version = version
        self._loaded.set()

    def __len__(self) -> int:
        """How many there are."""
        return len(self._index)

    def __iter__(self) -> Iterator[R]:
        """Every resource, in the order of lists."""
        for place in self._index:
            held = self._index.get(place)
            if held is not None:
                yield self._whole(held)

    def get(self, name: str, namespace: str = "") -> R | None:
        """One resource; None if none is known."""
        held = self._index.get(PlaceInList(namespace, name))
        return None if held is None else self._whole(held)

    def version_of(self, ref: Ref) -> str | None:
        """Of one resource, if it is known."""
        held = self._index.get(PlaceInList(ref.namespace, ref.name))
        return None if held is None else held.version

    def uid_of(self, ref: Ref) -> str | None:
        """Of one resource, if it is known."""
        held = self._index.get(PlaceInList(ref.namespace, ref.name))
        return None if held is None else held.uid

    def select(
        self, selector: Selector = EVERYTHING, *, namespace: str | None = None, behind: PlaceInList | None = None
    ) -> Iterator[R]:
        """What a list shows, in its order. Good until the next wait of the caller."""
        begin = {} if behind is None else {"behind": behind}
        for place in self._index.select(selector, namespace=namespace, **begin):
            yield self._whole(cast("_Held", self._index.get(place)))

    def refs(self) -> list[Ref]:
        """Every resource by name."""
        name = str(self.kind.model_fields["kind"].default)
        return [Ref(name, place.name, place.namespace) for place in self._index]

    def put(self, resource: R) -> None:
        """The resource is now like this."""
        place = PlaceInList(resource.namespace, resource.name)
        held = self._index.get(place)
        version = resource.metadata.resource_version
        if held is not None and held.version == version:
            return
        self._index.put(place, resource.metadata.labels, _Held(version, resource.metadata.uid, _packed(resource)))
        self._announce(Change.MODIFIED if held else Change.ADDED, resource)

    def remove(self, ref: Ref) -> None:
        """The resource is gone."""
        held = self._index.remove(PlaceInList(ref.namespace, ref.name))
        if held is not None:
            self._announce(Change.DELETED, self._whole(held))

    def _announce(self, change: Change, resource: Resource) -> None:
        self.changes += 1
        for listener in self._listeners:
            listener(change, resource)

    def _whole(self, held: _Held) -> R:
        if isinstance(held.content, bytes):
            return self.kind.model_validate_json(zlib.decompress(held.content))
        return cast("R", held.content)


def _packed(resource: Resource) -> Resource | bytes:
    if not resource.is_over:
        return resource
    return zlib.compress(resource.to_json().encode(), 1)

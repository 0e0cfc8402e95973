"""A store that can only be looked at: all that a sync is ever given.

There is no way to write or delete through it, so nothing that a sync does, thinks or gets wrong can change a store
(longhorn#9530: a sync that took an empty listing for an empty store deleted every backup).
"""

from dataclasses import dataclass
from typing import Protocol

from tidegate.ports.object_store import Listing, ObjectInfo

# A sync knows what it sees from here, and never the port through which one could write.
__all__ = ["Listing", "ObjectInfo", "Part", "StoreReader"]


@dataclass(frozen=True, slots=True)
class Part:
    """Some bytes of an object, and what there is to know of it at that moment."""

    body: bytes
    info: ObjectInfo

    @property
    def whole(self) -> bool:
        """Whether this is all of it."""
        return len(self.body) == self.info.size


class StoreReader(Protocol):
    """Asynchronous, because a far store is asked many things at once. Bounds by itself how many are under way.

    Raises what an ObjectStore raises, after asking again as far as its patience goes. Absence is told only when the
    store itself said so.
    """

    @property
    def requests_in_flight(self) -> int:
        """How many questions at once are worth asking."""
        ...

    async def anew(self) -> "StoreReader":
        """A reader for one sync, of what the URL leads to now: a directory may have been renamed, a share unmounted.

        Raises StoreUnavailable if there is nothing, or something else that holds no backups. One sync keeps to one
        such reader, so it never sees one half of its listing here and the other half there.
        """
        ...

    async def list_level(self, prefix: str) -> Listing:
        """See ObjectStore: empty only if the store says that nothing is there."""
        ...

    async def read_part(self, key: str, *, start: int, length: int) -> Part:
        """At most `length` bytes from `start`; fewer only where the object ends. Raises NotFound as a store says so."""
        ...

    async def read_start(self, key: str, *, length: int) -> bytes:
        """The same from the beginning, without a word about the object: cheaper where a million are read.

        Whoever knows the size from a listing compares it: a store may have sent less, or have another object by now.
        """
        ...

"""Where bytes live: one promise for directories, S3, Azure, GCS and memory.

Synchronous on purpose: bytes move in long-lived threads of a mover, and nothing per block belongs on an event loop
(docs/decisions/0004). All methods may be called from many threads at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class ObjectInfo:
    """What the store tells about an object without sending it."""

    key: str
    size: int
    modified_at: datetime
    """By the store's own clock."""
    etag: str = ""
    """The store's own word for these bytes, where it has one."""


@dataclass(frozen=True)
class Listing:
    """One level of a prefix: the objects right below it and the prefixes that go deeper.

    All are whole keys from the root of the store; a prefix, given or told, is written without a `/` at its end.
    """

    objects: tuple[ObjectInfo, ...]
    prefixes: tuple[str, ...]


class ObjectStore(Protocol):
    """Keys are `/`-separated relative paths. Absence is told only when the store itself said "not found".

    Every method raises StoreUnavailable when the store did not answer or its answer proves nothing (worth trying
    again), Unauthenticated when it refuses the credentials, and NoSpace when it is full.
    """

    @property
    def requests_in_flight(self) -> int:
        """How many calls at once this store needs to be busy: few for a disk, many for one that is far away."""
        ...

    @property
    def lists_at_once(self) -> bool:
        """Whether a listing that begins after a `put` returned, of anybody anywhere, always shows that object."""
        ...

    def get(self, key: str, *, at_most: int) -> bytes:
        """The whole object; raises NotFound if the store says so, DamagedMetadata if it is longer than `at_most`."""
        ...

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """Store `body` whole or not at all, replacing what was there. Durable and visible once this returns.

        With `lazily` it is visible, but may be lost in a power cut until `flush` was called.
        """
        ...

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """As `put`, but leaves an existing object alone and returns False. That one may be a lazy one too."""
        ...

    def flush(self) -> None:
        """Make all that is visible durable, whoever put it there: also what a client that died put lazily."""
        ...

    def head(self, key: str) -> ObjectInfo:
        """What there is to know of the object; raises NotFound only if the store says so."""
        ...

    def list_level(self, prefix: str) -> Listing:
        """What is right below `prefix`, sorted by key; empty only if the store says that nothing is there."""
        ...

    def list_all(self, prefix: str) -> Iterator[ObjectInfo]:
        """All objects below `prefix`, in no promised order. Raises in the middle rather than ending early."""
        ...

    def delete(self, key: str) -> None:
        """Remove the object; no error if it is not there."""
        ...


@runtime_checkable
class KeepsUnfinished(Protocol):
    """What a store of files is beside an ObjectStore: a writer that dies there leaves half an object behind.

    It lies under a name of its own, so no object is ever half; and no listing shows it, so nobody clears it away
    unless somebody asks.
    """

    def unfinished(self, prefix: str) -> list[str]:
        """Keys of unfinished objects below `prefix`, of the dead and the living, where this client has listed.

        Known from those listings, so it costs nothing. `head` and `delete` take such a key.
        """
        ...

    def remove_empty(self, prefix: str) -> None:
        """Remove the directory `prefix` and those below it, as far as nothing is in them; no error if it is not there.

        Objects come and go without it; only people, and Longhorn, take an empty directory for something.
        """
        ...

"""Where resources live: the promise that memory, SQLite and the Kubernetes API keep alike."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from tidegate.model.labels import EVERYTHING, Selector
from tidegate.model.resource import Ref, Resource

R = TypeVar("R", bound=Resource)


@dataclass(frozen=True)
class Page(Generic[R]):
    """Part of a list. `marker` asks for the next part; None means that this was the last."""

    items: tuple[R, ...]
    resource_version: str
    """Where to watch from so that nothing after this page's look is missed."""
    marker: str | None = None


class Change(StrEnum):
    """What happened to a resource."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True)
class Event:
    """One change, with the resource as it was right after it (for DELETED: right before it vanished)."""

    change: Change
    resource: Resource
    resource_version: str
    """Of this change; for DELETED newer than the one in the resource's metadata."""


class ResourceStore(Protocol):
    """Named things with a spec and a status, versioned, watched.

    Every write is durable when it returns: killing the process right after loses nothing. Every write is atomic: after
    an error nothing was changed. Names are unique per kind and namespace among things that exist now; uids for ever.
    Versions are opaque text and belong to one kind: two of them are equal or not, and neither is the newer. They are
    printable ASCII without commas, colons and spaces. Safe to use from many tasks at once.
    """

    async def create(self, resource: R) -> R:
        """Store a new resource with the kind's default status; fills in uid, versions and the creation time.

        A status that comes with it is dropped: `update_status`, a second write, says what is. What must not be lost in
        between belongs in spec, labels or annotations. Raises AlreadyExists and changes nothing if the name is taken,
        also by one that is still being deleted; InvalidInput for what could not be read back. One whose owners are all
        gone already goes sooner or later, too.
        """
        ...

    async def get(self, kind: type[R], name: str, namespace: str = "") -> R:
        """The resource as of the last finished write; raises NotFound only if it certainly does not exist."""
        ...

    async def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        selector: Selector = EVERYTHING,
        limit: int | None = None,
        marker: str | None = None,
    ) -> Page[R]:
        """Resources ordered by namespace and name; `limit` caps a page, `marker` goes on behind an earlier one.

        A page is one consistent look. Pages together miss nothing that existed throughout; to miss no change either,
        watch the kind from the version of the first one. Never empty by failure. Raises InvalidInput for a limit below
        1 and for a marker that no page gave out.
        """
        ...

    def watch(self, kind: type[R], *, since: str) -> AsyncIterator[Event]:
        """Every change of one kind after `since`, in order, none lost, none twice; waits for more for ever.

        `since` is the version of a page or of an event of this kind: versions of other kinds mean nothing here. Raises
        WatchExpired, at the beginning or later, when changes since then are no longer kept (list again), and
        InvalidInput for what is no version. Ends only when the store is closed.
        """
        ...

    async def update(self, resource: R) -> R:
        """Replace spec, labels, annotations, finalizers and owners; the stored status is left alone.

        So are the request to cancel, which only `cancel` sets, and what belongs to the store: uid, generation (it
        counts changes of the spec), the times of creation and deletion. Raises StaleVersion if `resource` is not the
        newest version or an earlier namesake, NotFound if it is gone, Refused for a new finalizer on a deleted
        resource, InvalidInput for what could not be read back. An update that changes nothing writes nothing and makes
        no event. Removing the last finalizer of a deleted resource removes it; the answer is how it was right before.
        """
        ...

    async def update_status(self, resource: R) -> R:
        """Replace the status only. Errors and the case of no change as for `update`."""
        ...

    async def cancel(self, ref: Ref, *, uid: str | None = None) -> Resource:
        """Set the request to cancel (`spec.cancel`), whatever the newest version is, and return the resource.

        Nothing takes the request back. Setting it twice changes nothing. With `uid`, a namesake that came later is left
        alone (NotFound). Raises NotFound if there is no such resource, InvalidInput for a kind that cannot be
        cancelled, Refused when it is too late: the resource has ended or is being deleted, or a deletion has begun.
        """
        ...

    async def delete(self, ref: Ref, *, uid: str | None = None) -> Resource | None:
        """Remove the resource, or, while it has finalizers, mark it as deleted. Marking twice changes nothing.

        Returns how it is marked now, or None once it is gone. With `uid`, a namesake that came later is left alone
        (NotFound). What names the removed one as its last owner goes too, sooner or later, under the same rules;
        marking an owner does nothing to it yet. Raises NotFound if there is no such resource.
        """
        ...

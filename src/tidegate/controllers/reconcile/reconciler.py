"""What a reconciler is: a name, what wakes it, and one method that takes a key."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from tidegate.model.resource import Ref, Resource


@dataclass(frozen=True)
class Next:
    """When to look at the key again if no event comes first."""

    delay: timedelta | None = None

    @classmethod
    def done(cls) -> "Next":
        """Nothing to do until something changes."""
        return cls()

    @classmethod
    def after(cls, delay: timedelta) -> "Next":
        """Look again after `delay`."""
        return cls(delay)


def itself(resource: Resource) -> Iterable[Ref]:
    """The usual answer to "whom does a change of this concern?"."""
    return (resource.ref,)


def owners(kind: str, *, of: Callable[[Resource], bool] = lambda _: True) -> Callable[[Resource], Iterable[Ref]]:
    """A change of a dependent, if it is one `of` those that matter, concerns those of this kind who own it."""
    return lambda resource: (
        [Ref(o.kind, o.name) for o in resource.metadata.owner_references if o.kind == kind] if of(resource) else []
    )


def always(key: Ref) -> Callable[[Resource], Iterable[Ref]]:
    """For decisions about a whole set: every change concerns the one key."""
    return lambda _resource: (key,)


@dataclass(frozen=True)
class Watch:
    """A change of a resource of this kind concerns these keys."""

    kind: type[Resource]
    keys: Callable[[Resource], Iterable[Ref]] = itself
    after: timedelta | None = None
    """The news may wait so long: what comes meanwhile is taken in one look. Absent: at once."""


class Reconciler(Protocol):
    """Observe, decide, apply; idempotent, so that a crash between any two writes heals on the next pass.

    Gets a key, never an event: what happened does not matter, only what is. Raises on a failed look: a look that
    failed is never taken for an empty one.
    """

    @property
    def name(self) -> str:
        """For logs and metrics."""
        ...

    @property
    def workers(self) -> int:
        """How many keys may be worked on at once."""
        ...

    @property
    def watches(self) -> Sequence[Watch]:
        """What wakes it."""
        ...

    async def reconcile(self, key: Ref) -> Next:
        """Bring what is one step nearer to what is wanted."""
        ...

"""A write from the wish to its effects, alike for every store that we keep ourselves.

Planning only looks; the store applies the effects afterwards. So a write that is refused, however late it turns out,
has changed nothing, and many writes can share one transaction without spoiling each other.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from pydantic import ValidationError

from tidegate.decide.resources.lifecycle import (
    Plan,
    Removed,
    Stored,
    is_orphan,
    on_cancel,
    on_create,
    on_delete,
    on_status,
    on_update,
)
from tidegate.errors import AlreadyExists, InvalidInput, NotFound
from tidegate.model.frozen import Model
from tidegate.model.resource import Ref, Resource
from tidegate.ports.resource_store import Change, Event
from tidegate.resources.versions import Versions

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Create:
    """Store a new resource under this uid."""

    resource: Resource
    uid: str


@dataclass(frozen=True)
class Update:
    """Replace what is wanted."""

    resource: Resource


@dataclass(frozen=True)
class UpdateStatus:
    """Replace what is."""

    resource: Resource


@dataclass(frozen=True)
class Cancel:
    """Set the request to cancel; with `uid` only if it is still the same one."""

    ref: Ref
    uid: str | None


@dataclass(frozen=True)
class Delete:
    """Remove or mark; with `uid` only if it is still the same one."""

    ref: Ref
    uid: str | None


Write = Create | Update | UpdateStatus | Cancel | Delete


class Rows(Protocol):
    """What planning must look up. It sees the effects of all earlier writes."""

    def find(self, ref: Ref) -> Resource | None:
        """The stored resource, or None."""
        ...

    def dependents(self, uid: str) -> Iterable[Resource]:
        """What names `uid` as one of its owners."""
        ...

    def lives(self, uid: str) -> bool:
        """Whether a resource with this uid is stored."""
        ...


@dataclass(frozen=True)
class Effect:
    """One change to apply, and the event that tells of it."""

    event: Event
    before: Resource | None


@dataclass(frozen=True)
class Outcome:
    """What a write comes to: the answer for the caller and all effects, in the order of their versions."""

    answer: Resource | None
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Counted:
    """How many writes the store has had, and how it spells them."""

    writes: int
    versions: Versions


def plan_write(write: Write, rows: Rows, counted: Counted, *, now: datetime) -> Outcome:
    """Decide what `write` does to `rows`. Raises what the ResourceStore promises; changes nothing itself."""
    draft = _Draft(rows, counted, now=now)
    answer: Resource | None = None
    match write:
        case Create():
            answer = draft.create(write)
        case Update():
            answer = draft.update(write)
        case UpdateStatus():
            answer = draft.update_status(write)
        case Cancel():
            answer = draft.cancel(write)
        case Delete():
            answer = draft.delete(write)
    draft.delete_dependents()
    return Outcome(answer, tuple(draft.effects))


def checked(model: M) -> M:
    """The value as it will be read back. What could not be read back must not get in: it would damage every list."""
    try:
        return type(model).model_validate_json(model.to_json())
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{path or type(model).__name__}: {first['msg']}", field=path) from error


def no_such(ref: Ref) -> NotFound:
    """The sentence that every store says."""
    return NotFound(f"there is no {ref}")


class _Draft:
    """The effects so far. What they remove is already gone in the eyes of the rest of the same write."""

    def __init__(self, rows: Rows, counted: Counted, *, now: datetime) -> None:
        self.effects: list[Effect] = []
        self._rows = rows
        self._counted = counted
        self._now = now
        self._gone: set[str] = set()
        self._asked_to_go: set[str] = set()
        self._lost_owners: deque[str] = deque()

    def next_version(self, kind: str) -> str:
        count = self._counted.writes + len(self.effects) + 1
        return self._counted.versions.spell(kind, count)

    def create(self, write: Create) -> Resource:
        ref = write.resource.ref
        if self._rows.find(ref) is not None:
            raise AlreadyExists(f"{ref} already exists")
        version = self.next_version(ref.kind)
        born = self._carry_out(None, on_create(write.resource, version=version, uid=write.uid, now=self._now))
        self._delete_if_orphan(born)
        return born

    def update(self, write: Update) -> Resource:
        current = self._existing(write.resource.ref)
        answer = self._carry_out(current, on_update(current, write.resource, version=self.next_version(current.kind)))
        if answer.metadata.owner_references != current.metadata.owner_references:
            self._delete_if_orphan(answer)
        return answer

    def update_status(self, write: UpdateStatus) -> Resource:
        current = self._existing(write.resource.ref)
        return self._carry_out(current, on_status(current, write.resource, version=self.next_version(current.kind)))

    def cancel(self, write: Cancel) -> Resource:
        current = self._existing(write.ref, write.uid)
        return self._carry_out(current, on_cancel(current, version=self.next_version(current.kind)))

    def delete(self, write: Delete) -> Resource | None:
        current = self._existing(write.ref, write.uid)
        self._delete(current)
        return None if current.metadata.uid in self._gone else self._newest(current)

    def delete_dependents(self) -> None:
        while self._lost_owners:
            for dependent in self._rows.dependents(self._lost_owners.popleft()):
                self._delete_if_orphan(dependent)

    def _existing(self, ref: Ref, uid: str | None = None) -> Resource:
        current = self._rows.find(ref)
        if current is None or uid not in {None, current.metadata.uid}:
            raise no_such(ref)
        return current

    def _newest(self, current: Resource) -> Resource:
        """As this write leaves it."""
        changed = [effect.event.resource for effect in self.effects if effect.event.resource.ref == current.ref]
        return changed[-1] if changed else current

    def _carry_out(self, before: Resource | None, plan: Plan[Resource]) -> Resource:
        match plan:
            case Stored(resource):
                self._record(Change.MODIFIED if before else Change.ADDED, resource, before)
            case Removed(resource):
                self._record(Change.DELETED, resource, before)
                self._gone.add(resource.metadata.uid)
                self._lost_owners.append(resource.metadata.uid)
        return plan.resource

    def _delete(self, current: Resource) -> None:
        self._asked_to_go.add(current.metadata.uid)
        self._carry_out(current, on_delete(current, now=self._now, version=self.next_version(current.kind)))

    def _delete_if_orphan(self, resource: Resource) -> None:
        """Also right after storing it: its owner may have gone while the caller was on the way to us."""
        uid = resource.metadata.uid
        settled = uid in self._gone or uid in self._asked_to_go
        if not settled and is_orphan(resource, lives=self._lives):
            self._delete(resource)

    def _lives(self, uid: str) -> bool:
        return uid not in self._gone and self._rows.lives(uid)

    def _record(self, change: Change, resource: Resource, before: Resource | None) -> None:
        self.effects.append(Effect(Event(change, resource, self.next_version(resource.kind)), before))

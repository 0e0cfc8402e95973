"""Resources in memory: for tests, and for trying things out. Nothing survives the process."""

import heapq
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar, cast

from tidegate.model.kinds import kind_name
from tidegate.model.labels import EVERYTHING, Operator, Selector
from tidegate.model.resource import Ref, Resource
from tidegate.ports.clock import Clock
from tidegate.ports.identity import NewId
from tidegate.ports.resource_store import Change, Event, Page
from tidegate.resources.event_log import KEPT_EVENTS, EventLog, check_given_out
from tidegate.resources.versions import SCATTERED, Versions
from tidegate.resources.writes import (
    Cancel,
    Counted,
    Create,
    Delete,
    Effect,
    Update,
    UpdateStatus,
    Write,
    checked,
    no_such,
    plan_write,
)
from tidegate.state.paging import PlaceInList, check_limit, place_of

R = TypeVar("R", bound=Resource)


class MemoryStore:
    """Keeps the ResourceStore's promise but for durability. No write awaits anything, so each is atomic by itself."""

    def __init__(
        self, clock: Clock, new_id: NewId, *, kept_events: int = KEPT_EVENTS, versions: Versions = SCATTERED
    ) -> None:
        self._clock = clock
        self._new_id = new_id
        self._rows = _MemoryRows()
        self._last_version = 0
        self._versions = versions
        self._log = EventLog(last_version=0, kept_events=kept_events, versions=versions)

    async def close(self) -> None:
        """End all watchers."""
        self._log.close()

    async def create(self, resource: R) -> R:
        """See ResourceStore."""
        return cast("R", self._write(Create(checked(resource), self._new_id())))

    async def get(self, kind: type[R], name: str, namespace: str = "") -> R:
        """See ResourceStore."""
        ref = Ref(kind_name(kind), name, namespace)
        found = self._rows.find(ref)
        if found is None:
            raise no_such(ref)
        return cast("R", found)

    async def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        selector: Selector = EVERYTHING,
        limit: int | None = None,
        marker: str | None = None,
    ) -> Page[R]:
        """See ResourceStore."""
        check_limit(limit)
        begin = place_of(marker)
        matching = {
            place: resource
            for place, resource in self._rows.candidates(kind_name(kind), selector)
            if place > begin and namespace in {None, place.namespace} and selector.holds_for(resource.metadata.labels)
        }
        places = sorted(matching) if limit is None else heapq.nsmallest(limit, matching)
        return Page(
            tuple(cast("R", matching[place]) for place in places),
            resource_version=self._versions.spell(kind_name(kind), self._last_version),
            marker=places[-1].to_marker() if len(places) < len(matching) else None,
        )

    async def watch(self, kind: type[R], *, since: str) -> AsyncIterator[Event]:
        """See ResourceStore."""
        check_given_out(self._versions.read(kind_name(kind), since), newest=self._last_version)
        async for event in self._log.watch(kind, since=since):
            yield event

    async def update(self, resource: R) -> R:
        """See ResourceStore."""
        return cast("R", self._write(Update(checked(resource))))

    async def update_status(self, resource: R) -> R:
        """See ResourceStore."""
        return cast("R", self._write(UpdateStatus(resource.replace(status=checked(resource.status)))))

    async def cancel(self, ref: Ref, *, uid: str | None = None) -> Resource:
        """See ResourceStore."""
        return cast("Resource", self._write(Cancel(ref, uid)))

    async def delete(self, ref: Ref, *, uid: str | None = None) -> Resource | None:
        """See ResourceStore."""
        return self._write(Delete(ref, uid))

    def _write(self, write: Write) -> Resource | None:
        counted = Counted(self._last_version, self._versions)
        outcome = plan_write(write, self._rows, counted, now=self._clock.now())
        for effect in outcome.effects:
            self._rows.apply(effect)
        self._last_version += len(outcome.effects)
        self._log.publish(effect.event for effect in outcome.effects)
        return outcome.answer


class _MemoryRows:
    """Resources by place, with the same indexes that a database would have."""

    def __init__(self) -> None:
        self._kinds: defaultdict[str, dict[PlaceInList, Resource]] = defaultdict(dict)
        self._dependents: defaultdict[str, set[Ref]] = defaultdict(set)
        self._labelled: defaultdict[tuple[str, str, str], dict[PlaceInList, Resource]] = defaultdict(dict)
        self._uids: set[str] = set()

    def candidates(self, kind: str, selector: Selector) -> Iterable[tuple[PlaceInList, Resource]]:
        """All that the selector may hold for: by one of its labels if it names one, else all of the kind."""
        for requirement in selector.requirements:
            if requirement.operator is Operator.IN and len(requirement.values) == 1:
                return self._labelled.get((kind, requirement.key, requirement.values[0]), {}).items()
        return self._kinds[kind].items()

    def find(self, ref: Ref) -> Resource | None:
        return self._kinds[ref.kind].get(PlaceInList(ref.namespace, ref.name))

    def dependents(self, uid: str) -> Iterable[Resource]:
        found = (self.find(ref) for ref in sorted(self._dependents.get(uid, ())))
        return [resource for resource in found if resource is not None]

    def lives(self, uid: str) -> bool:
        return uid in self._uids

    def apply(self, effect: Effect) -> None:
        resource = effect.event.resource
        place = PlaceInList(resource.namespace, resource.name)
        if effect.before is not None:
            self._forget_owners(effect.before)
            self._forget_labels(effect.before, place)
        if effect.event.change is Change.DELETED:
            del self._kinds[resource.kind][place]
            self._uids.discard(resource.metadata.uid)
            return
        self._kinds[resource.kind][place] = resource
        self._uids.add(resource.metadata.uid)
        for key, value in resource.metadata.labels.items():
            self._labelled[resource.kind, key, value][place] = resource
        for owner in resource.metadata.owner_references:
            self._dependents[owner.uid].add(resource.ref)

    def _forget_labels(self, resource: Resource, place: PlaceInList) -> None:
        for key, value in resource.metadata.labels.items():
            bucket = self._labelled[resource.kind, key, value]
            bucket.pop(place, None)
            if not bucket:
                del self._labelled[resource.kind, key, value]

    def _forget_owners(self, resource: Resource) -> None:
        for owner in resource.metadata.owner_references:
            self._dependents[owner.uid].discard(resource.ref)
            if not self._dependents[owner.uid]:
                del self._dependents[owner.uid]

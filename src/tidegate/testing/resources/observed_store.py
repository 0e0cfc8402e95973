"""A store that shows every change to observers, of all kinds in the order of the writes."""

from collections.abc import Callable, Iterable
from typing import Any

from tidegate.ports.resource_store import Event
from tidegate.resources.event_log import KEPT_EVENTS, EventLog
from tidegate.resources.versions import SCATTERED
from tidegate.testing.resources.late_store import LateStore

Observer = Callable[[Event], None]


class _ShownLog(EventLog):
    """Publishes, then shows."""

    def __init__(self, observers: list[Observer], *, kept_events: int) -> None:
        super().__init__(last_version=0, kept_events=kept_events, versions=SCATTERED)
        self._observers = observers

    def publish(self, events: Iterable[Event]) -> None:
        changes = list(events)
        super().publish(changes)
        for event in changes:
            for observe in self._observers:
                observe(event)


class ObservedStore(LateStore):
    """A watch keeps the order of one kind; a rule about several kinds must hold after each single write."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401  # as the store in memory has them
        super().__init__(**given)
        self.observers: list[Observer] = []
        self._log = _ShownLog(self.observers, kept_events=given.get("kept_events", KEPT_EVENTS))

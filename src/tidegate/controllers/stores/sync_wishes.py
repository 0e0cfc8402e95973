"""Who wants to be synced, since when, and whether anybody knows of a change. Need not outlive the process."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tidegate.decide.stores.sync_schedule import SyncDecision, SyncReason, forced_pause, forecast, too_soon
from tidegate.model.resource import Ref
from tidegate.model.stores.catalogue_status import SyncForecast
from tidegate.ports.clock import Clock


@dataclass
class SyncWishes:
    """Volumes by their key; and of volumes and targets, when the last sync ended that was forced.

    Forced is what somebody asks for who knows of no change. However often that is, it is one wish; and after the sync
    that fulfils it there is a pause. Whoever knows of a change waits for no pause.
    """

    clock: Clock
    _wanted: dict[Ref, datetime] = field(default_factory=dict)
    _only_forced: set[Ref] = field(default_factory=set)
    _forced_at: dict[Ref, datetime] = field(default_factory=dict)

    def want(self, key: Ref, since: datetime, *, forced: bool = False) -> None:
        """Want it looked at by a sync that begins after that."""
        if not forced:
            self._only_forced.discard(key)
        elif key not in self._wanted:
            self._only_forced.add(key)
        self._wanted[key] = max(since, self._wanted.get(key, since))

    def since(self, key: Ref) -> datetime | None:
        """Since when it is wanted; None if it is not."""
        return self._wanted.get(key)

    def fulfilled(self, key: Ref, since: datetime | None) -> None:
        """What was wanted then was seen; a wish that came meanwhile stays."""
        if self._wanted.get(key) == since:
            self._wanted.pop(key, None)
            self._only_forced.discard(key)

    def is_forced(self, key: Ref) -> bool:
        """Whether nobody who wants it knows of a change."""
        return key in self._only_forced

    def pause(self, key: Ref) -> timedelta:
        """How long it has to wait because the last forced one ended just now."""
        return forced_pause(self.forced_at(key), self.clock.now()) if self.is_forced(key) else timedelta()

    def forced_at(self, key: Ref) -> datetime | None:
        """When the last forced sync ended; None if that is long ago."""
        return self._forced_at.get(key)

    def ended(self, key: Ref, *, forced: bool) -> None:
        """A sync is over. What ended long ago holds up nobody, and is forgotten."""
        now = self.clock.now()
        self._forced_at = {one: at for one, at in self._forced_at.items() if forced_pause(at, now)}
        if forced:
            self._forced_at[key] = now

    def forecast(self, key: Ref, *, running: bool) -> SyncForecast | None:
        """When the sync of a volume begins that is wanted."""
        if key not in self._wanted:
            return None
        now, pause = self.clock.now(), self.pause(key)
        if pause and not running:
            return too_soon(now + pause)
        return forecast(SyncDecision(due=True, reason=SyncReason.REQUESTED), now, running=running)

"""Changes of places in the queue, for one watcher: no place is stored, so no change of a backup tells of them.

When one leaves the queue, all behind it move. That would be a write for each; instead each watcher is told of those
whose place, or the reason of whose wait, is another one than it was told last.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tidegate.api.reads.queue_looks import surroundings_now
from tidegate.api.reads.queue_places import explained, is_queued
from tidegate.api.services import Services
from tidegate.decide.queue.standing import Standing, standings
from tidegate.errors import NotFound
from tidegate.model.backups.backup import Backup
from tidegate.state.queue import QueueTable

# So many are looked at, and so many told, at once: a watcher of a long queue hears of the others the next times.
_LOOKED_AT = 1000
_TOLD_AT_ONCE = 50


class _Told(NamedTuple):
    place: int
    why: tuple[str, str] | None = None
    """Reason and message; None: whatever the watcher's own list says."""

    @classmethod
    def of(cls, backup: Backup) -> "_Told | None":
        place, waits = backup.status.queue_position, backup.status.condition("Waiting")
        return cls(place, (waits.reason, waits.message) if waits else ("", "")) if place else None


def _same(known: _Told | None, place: int, why: tuple[str, str] | None) -> bool:
    if known is None or known.place != place:
        return False
    return known.why is None or why is None or known.why == why


class PlacesTold:
    """What one watcher knows of the queue."""

    def __init__(self, services: Services, table: QueueTable, *, since: str) -> None:
        self._services = services
        self._table = table
        self._at = 0
        # A watcher that listed before the last move may know old places.
        listed = table.moved_at <= int(since)
        names = (name for _, _, name in table.places()) if listed else ()
        self._told = {name: _Told(place) for place, name in enumerate(names, start=1)}
        self._moves_seen = table.moves

    @property
    def moved(self) -> bool:
        """Whether anybody may stand elsewhere since the last look."""
        return self._table.moves != self._moves_seen

    def told(self, backup: Backup) -> None:
        """The watcher has got this."""
        now = _Told.of(backup) if is_queued(backup) else None
        if now is None:
            self._told.pop(backup.name, None)
        else:
            self._told[backup.name] = now

    async def news(self, *, up_to: str) -> list[Backup]:
        """Those to be told now, nearest the head first; none that is newer than `up_to`, for its own news come."""
        around, settings = await surroundings_now(self._services)
        table, limit, clock = self._table, settings.concurrent_backups, self._services.clock
        self._moves_seen, snapshot = table.moves, table.snapshot(around)
        names = [name for _, _, name in table.places()[self._at : self._at + _LOOKED_AT]]
        if len(table.places()) > _LOOKED_AT and len(snapshot.running) < limit:
            # While a slot is free, reasons take a pass over all that wait: the stored ones do.
            places = {name: Standing(place, None) for place, name in enumerate(names, start=self._at + 1)}
        else:
            places = standings(table, snapshot, names, limit=limit, now=clock.now())
        return await self._read(places, up_to=up_to, more=self._at + _LOOKED_AT < len(table.places()))

    async def _read(self, places: Mapping[str, Standing], *, up_to: str, more: bool) -> list[Backup]:
        news: list[Backup] = []
        for name, standing in places.items():
            why = (str(standing.obstacle.reason), standing.obstacle.message) if standing.obstacle else None
            if _same(self._told.get(name), standing.position, why):
                continue
            if len(news) == _TOLD_AT_ONCE:
                self._moves_seen = -1  # not all were told
                return news
            backup = await self._stored(name)
            if backup is None or not is_queued(backup) or int(backup.metadata.resource_version) > int(up_to):
                continue  # its own news are under way
            self._told[name] = _Told(standing.position, why)
            news.append(explained(backup, standing))
        self._at = self._at + _LOOKED_AT if more else 0
        self._moves_seen = -1 if more else self._moves_seen
        return news

    async def _stored(self, name: str) -> Backup | None:
        try:
            return await self._services.store.get(Backup, name)
        except NotFound:
            return None

"""Syncs of the catalogue that are noted down and never begin."""

from dataclasses import dataclass, field

from tidegate.model.stores.catalogue_status import SyncForecast, VolumeSync
from tidegate.model.stores.target import BackupTarget, SyncStatus


@dataclass
class NotedSyncs:
    """Keeps the promise of CatalogueSyncs for a server whose stores do not answer: every request stays pending."""

    asked: list[tuple[str, str]] = field(default_factory=list)
    """(target, volume) of every request that knew of no change, in order."""
    _pending: set[tuple[str, str]] = field(default_factory=set)

    def request(self, target: str, volume: str, *, forced: bool = False) -> None:
        """See CatalogueSyncs."""
        self._pending.add((target, volume))
        if forced:
            self.asked.append((target, volume))

    async def forecast(self, target: BackupTarget) -> SyncForecast:
        """See CatalogueSyncs."""
        return SyncForecast(message=f"{target.name} begins now")

    def target_sync(self, target: BackupTarget) -> SyncStatus:
        """See CatalogueSyncs."""
        return target.status.sync

    def volume_sync(self, target: str, volume: str) -> VolumeSync:
        """See CatalogueSyncs."""
        return VolumeSync(target=target, volume=volume, pending=(target, volume) in self._pending)

"""The promise of whoever keeps the catalogue up to date: a volume can be asked for, and how its sync goes be told."""

from typing import Protocol

from tidegate.model.stores.catalogue_status import SyncForecast, VolumeSync
from tidegate.model.stores.target import BackupTarget, SyncStatus


class CatalogueSyncs(Protocol):
    """Never waits for a store. Whole targets are asked for by `spec.syncRequestedAt`, which outlives the process."""

    def request(self, target: str, volume: str, *, forced: bool = False) -> None:
        """Somebody wants this volume up to date now, whether or not the catalogue knows it yet.

        `forced` by somebody who knows of no change: such requests, however many, become at most one sync that runs and
        one that waits, and two of them have a pause in between.
        """
        ...

    async def forecast(self, target: BackupTarget) -> SyncForecast:
        """When the sync of this target begins that was just asked for."""
        ...

    def target_sync(self, target: BackupTarget) -> SyncStatus:
        """How the sync of this target stands at this moment."""
        ...

    def volume_sync(self, target: str, volume: str) -> VolumeSync:
        """How what was asked for goes; `pending` stays until a sync that began after the request has seen it all."""
        ...

"""Looks at stores, before something is accepted and to see whether a target is available."""

from collections.abc import Sequence
from typing import Protocol

from tidegate.model.restores.restore_plan import StoredBackup
from tidegate.model.transfers.mover_job import TargetAccess


class StoreProbe(Protocol):
    """Answers whether a store works now and what it holds, so that a mistake shows when it is made, not in a log later.

    Every method raises InvalidInput for a URL that can never work, StoreUnavailable or Unauthenticated for a store that
    does not work now, and StoreIdentityMissing or StoreIdentityChanged for another store than the one that `access`
    names. A store that hangs counts as unavailable after a while.
    """

    async def check(self, access: TargetAccess) -> None:
        """Return if the store works."""
        ...

    async def identify(self, access: TargetAccess, *, volumes: Sequence[str] = ()) -> str:
        """Return what the store calls itself. One that has no identity gets one, if it holds these volumes.

        Empty: it takes none, because it may not be written to or is full. Raise StoreIdentityMissing, and write
        nothing, if it has none and too few of the volumes are there for it to be the store that they were in.
        """
        ...

    async def stored_backup(self, access: TargetAccess, volume: str, backup: str) -> StoredBackup:
        """Return what the store says of one volume backup.

        Raise NotFound only if the store says that there is none, Refused for one that is not finished, DamagedMetadata
        for one that cannot be understood.
        """
        ...

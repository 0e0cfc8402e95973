"""A store that is there, away or another one, as the test says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tidegate.decide.stores.identity import is_recognised, unrecognised
from tidegate.errors import (
    InvalidInput,
    NotFound,
    StoreIdentityChanged,
    StoreIdentityMissing,
    StoreUnavailable,
    TidegateError,
)
from tidegate.model.restores.restore_plan import StoredBackup
from tidegate.model.transfers.mover_job import TargetAccess


@dataclass
class FakeStoreProbe:
    """Keeps the promise of StoreProbe: every URL leads to one and the same store."""

    down: bool = False
    identity: str = ""
    """Of the store that is there; one that has none gets one."""
    volumes: Collection[str] | None = None
    """Those that the store holds; None: every one that it is asked for."""
    takes_none: bool = False
    """It may not be written to."""
    backups: Mapping[tuple[str, str], StoredBackup | TidegateError] = field(default_factory=dict)
    """By volume and backup; an error is what a look at that one raises."""
    asked_for: tuple[str, ...] = ()
    """The volumes by which the store was to be recognised."""

    async def check(self, access: TargetAccess) -> None:
        """See StoreProbe."""
        if "://" not in access.url:
            raise InvalidInput(f"{access.url} is not the URL of a store")
        if self.down:
            raise StoreUnavailable(f"{access.url} does not answer")
        if access.identity in {"", self.identity}:
            return
        if self.identity:
            raise StoreIdentityChanged("another store is there", found=self.identity)
        raise StoreIdentityMissing("another store is there")

    async def identify(self, access: TargetAccess, *, volumes: Sequence[str] = ()) -> str:
        """See StoreProbe."""
        await self.check(access)
        self.asked_for = tuple(volumes)
        if self.identity:
            return self.identity
        there = volumes if self.volumes is None else [name for name in volumes if name in self.volumes]
        if not is_recognised(len(there), of=len(volumes)):
            raise StoreIdentityMissing(unrecognised(access.url, len(there), of=len(volumes)))
        self.identity = "" if self.takes_none else "store-1"
        return self.identity

    async def stored_backup(self, access: TargetAccess, volume: str, backup: str) -> StoredBackup:
        """See StoreProbe."""
        await self.check(access)
        found = self.backups.get((volume, backup))
        if found is None:
            raise NotFound(f"cannot find backup {backup} of volume {volume} in the store")
        if isinstance(found, TidegateError):
            raise found
        return found

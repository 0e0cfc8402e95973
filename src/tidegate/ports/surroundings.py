"""Looks at the machine and the stores that the API takes before it accepts something."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from tidegate.model.restores.restore_plan import Place, StoredBackup
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.model.volumes.volume import VolumeSpec


class Surroundings(Protocol):
    """Answers "would this work?" so that a mistake is told to the person who makes it, not to a log later."""

    async def check_volume(self, spec: VolumeSpec) -> int:
        """Bytes that the volume has now. Raises SourceUnreadable with a sentence if it cannot be backed up."""
        ...

    async def check_target(self, access: TargetAccess) -> None:
        """Raises InvalidInput for a URL that can never work; StoreUnavailable or Unauthenticated if it does not now."""
        ...

    async def identify(self, access: TargetAccess, *, volumes: Sequence[str] = ()) -> str:
        """What the store calls itself. One that has no identity is given one, if it holds these volumes.

        Empty: it takes none, because it may not be written to or is full. Raises StoreIdentityMissing, and writes
        nothing, if it has none and too few of the volumes are there for it to be the store that they were in; else
        what `check_target` raises.
        """
        ...

    async def stored_backup(self, access: TargetAccess, volume: str, backup: str) -> StoredBackup:
        """What a store says of one volume backup.

        Raises NotFound only if the store says that there is none, Refused for one that is not finished, DamagedMetadata
        for one that cannot be understood, and what `check_target` raises.
        """
        ...

    async def look_at(self, path: str, *, keep_out: Sequence[KeptPlace] = ()) -> Place:
        """What is at a path now. Never raises: what cannot be seen is told as unreadable.

        The server's data directory, and what is to be kept out of beside it, is in the way of what touches it.
        """
        ...

    async def users_of(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Who has something at these paths open now, by path; as far as the system tells. Never raises."""
        ...

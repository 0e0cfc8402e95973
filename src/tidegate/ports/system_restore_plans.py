"""What a system restore would do, as things are now."""

from dataclasses import dataclass
from typing import Protocol

from tidegate.errors import StoreUnavailable
from tidegate.model.system.system_restore import ArchiveSource, RestoredDefinition, RestoredVolume, VolumeChoice


@dataclass(frozen=True)
class SystemRestorePlan:
    """One row for each definition and each volume of the archive."""

    definitions: tuple[RestoredDefinition, ...]
    volumes: tuple[RestoredVolume, ...]


class SystemRestorePlans(Protocol):
    """Plans system restores, for the API that shows them and for the controller that carries them out."""

    async def plan(self, source: ArchiveSource, choice: VolumeChoice) -> SystemRestorePlan:
        """Read the archive and look at every place; changes nothing.

        Raises NotFound if target or archive is gone, DamagedMetadata or WrongKey if the archive cannot be read, and
        StoreUnavailable if the store did not answer.
        """
        ...


class NoSystemRestorePlans:
    """For a server that reaches no archives."""

    async def plan(self, source: ArchiveSource, choice: VolumeChoice) -> SystemRestorePlan:  # noqa: ARG002  # a promise
        """See SystemRestorePlans."""
        raise StoreUnavailable(f"{source.url} is out of reach here")

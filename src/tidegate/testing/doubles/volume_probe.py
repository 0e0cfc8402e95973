"""Volumes that are there, in use or changed, as the test says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tidegate.errors import SourceUnreadable
from tidegate.model.restores.restore_plan import Place, PlaceState
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.model.volumes.volume_ref import Claim, Device, VolumeRef
from tidegate.volumes.kept_places import touched

_STATES: dict[VolumeKind, set[PlaceState]] = {
    VolumeKind.DIRECTORY: {PlaceState.EMPTY, PlaceState.DIRECTORY},
    VolumeKind.IMAGE: {PlaceState.FILE},
    VolumeKind.DEVICE: {PlaceState.DEVICE},
}


@dataclass
class FakeVolumeProbe:
    """Keeps the promise of VolumeProbe without a disk: every path is a volume, and a free place to restore to."""

    missing: set[str] = field(default_factory=set)
    """Paths of volumes that are not there."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes by path; others have 4096."""
    places: dict[str, Place] = field(default_factory=dict)
    """What a look at these paths finds."""
    users: dict[str, str] = field(default_factory=dict)
    """Who uses what, by path."""
    changed: dict[str, datetime] = field(default_factory=dict)
    """When the volumes at these paths were last written to; others never were."""

    async def measure(self, volume: VolumeRef) -> int:
        """See VolumeProbe."""
        if isinstance(volume, Claim):
            raise SourceUnreadable(volume.not_here)
        if volume.path in self.missing:
            raise SourceUnreadable(f"{volume.path} does not exist")
        place = self.places.get(volume.path)
        if place is not None and place.state not in _STATES[volume.kind]:
            raise SourceUnreadable(f"{volume.path} is not of kind {volume.kind}")
        return self.sizes.get(volume.path, 4096)

    async def look_at(self, volume: VolumeRef, *, keep_out: Sequence[KeptPlace] = ()) -> Place:
        """See VolumeProbe."""
        if isinstance(volume, Claim):
            return Place(in_the_way=volume.not_here)
        kept = touched(volume.path, keep_out)
        place = self.places.get(volume.path, Place())
        return place.replace(in_the_way=f"it {kept.sentence}") if kept else place

    async def users_of(self, volumes: Sequence[VolumeRef]) -> Mapping[VolumeRef, str]:
        """See VolumeProbe."""
        return {volume: self.users[volume.address] for volume in volumes if volume.address in self.users}

    async def changed_since(self, volume: VolumeRef, moment: datetime) -> bool:
        """See VolumeProbe."""
        if isinstance(volume, Device | Claim) or volume.path in self.missing:
            return True
        last = self.changed.get(volume.path)
        return last is not None and last >= moment

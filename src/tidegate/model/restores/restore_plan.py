"""What a restore would do: told before anything is changed."""

from enum import StrEnum

from pydantic import Field

from tidegate.model.frozen import Model
from tidegate.model.reasons import Reason
from tidegate.model.volumes.volume_kind import VolumeKind


class StoredBackup(Model):
    """One volume backup, as far as its cfg in the store tells. Others may have written it: hostile until checked."""

    labels: dict[str, str] = Field(default_factory=dict)
    is_tree: bool = False
    size: int = 0


class PlaceState(StrEnum):
    """What is at a path now."""

    FREE = "free"
    EMPTY = "emptyDirectory"
    DIRECTORY = "directory"
    FILE = "file"
    DEVICE = "device"
    OTHER = "other"
    UNREADABLE = "unreadable"


class Room(Model):
    """What is free on a file system."""

    file_system: str
    """The same for two places that share it."""
    free_bytes: int


class Place(Model):
    """A path, as somebody found it who looked."""

    state: PlaceState = PlaceState.FREE
    detail: str = ""
    """For a person: how much is there, or why it cannot be told."""
    mounted: bool = False
    """Whether a file system is mounted there, or, of a device, whether anything is built on it."""
    used_by: str = ""
    """A process that has something there open; empty: none that can be seen."""
    in_the_way: str = ""
    """Why nothing can be made there; empty: nothing that can be seen."""
    room: Room | None = None
    """Where a restore would build what it brings back; absent where nobody knows, and for a device."""

    @property
    def full(self) -> bool:
        """Whether there is something that would be replaced as a whole."""
        return self.state in {PlaceState.DIRECTORY, PlaceState.FILE}


class PlannedVolume(Model):
    """One volume of a restore."""

    volume: str
    """As it is in the backup, NAMESPACE/NAME; without a namespace where nobody knows it."""
    target_volume: str
    """As it will be: the same, unless namespaces are mapped."""
    kind: VolumeKind
    target: str
    """The backup target that it comes from."""
    store_backup: str
    size: int | None = None
    destination: str = ""
    """Empty where nobody knows where it belongs."""
    place: Place | None = None


class PlanConflict(Model):
    """Something because of which the restore, or this volume of it, would not be carried out."""

    volume: str = ""
    message: str


class PlannedWait(Model):
    """Something that it would have to wait for."""

    reason: Reason
    message: str


class RestorePlan(Model):
    """What would happen. Nothing is changed by asking."""

    backup_name: str | None = None
    """The backup that would be read."""
    conflicts: tuple[PlanConflict, ...] = ()
    waits: tuple[PlannedWait, ...] = ()
    queue_position: int | None = None
    """The place that it would get among the restores that wait; absent if it would start at once."""
    warnings: tuple[str, ...] = ()
    volumes: tuple[PlannedVolume, ...] = ()

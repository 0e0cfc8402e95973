"""How far a sync is, for whoever asks while it runs."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from tidegate.errors import TidegateError

_MOST_ERRORS = 20
_LONGEST_ERROR = 300


class SyncStage(StrEnum):
    """What a sync does now."""

    LISTING = "ListingVolumes"
    READING = "ReadingBackups"
    DROPPING = "Dropping"
    DONE = "Done"


@dataclass
class SyncProgress:
    """Counts of one sync. Written by its own loop; a look from another thread sees numbers of about the same moment."""

    started_at: datetime
    stage: SyncStage = SyncStage.LISTING
    done: int = 0
    total: int = 0
    volumes_changed: int = 0
    backups_read: int = 0
    backups_from_index: int = 0
    parts: dict[str, float] = field(default_factory=dict)
    """Of each volume under way, the part that is read."""
    volumes_done: int = 0
    """Some of them while others were still being listed."""
    reading_began: datetime | None = None
    errors: int = 0
    sentences: list[str] = field(default_factory=list)
    """The first few errors."""

    def catch_up_with(self, told: "SyncProgress") -> None:
        """What the process that syncs says of it."""
        vars(self).update(vars(told))

    @property
    def backups(self) -> int:
        """How many it has read, from wherever."""
        return self.backups_read + self.backups_from_index

    def enter(self, stage: SyncStage, *, total: int) -> None:
        """A new stage begins with nothing done, but for volumes that were read before it."""
        self.stage, self.total = stage, total
        self.done = self.volumes_done if stage is SyncStage.READING else 0

    def part_read(self, volume: str, part: float) -> None:
        """So much more of this volume is read."""
        self.parts[volume] = self.parts.get(volume, 0.0) + part

    def volume_begun(self, at: datetime) -> None:
        """The first one tells when reading began, and so how quick it is: in a sync without news, after the listing."""
        self.reading_began = self.reading_began or at

    def volume_done(self, volume: str) -> None:
        """However it went: nothing is left to do for it."""
        self.parts.pop(volume, None)
        self.volumes_done += 1
        if self.stage is SyncStage.READING:
            self.done = self.volumes_done

    def failed(self, what: str, error: TidegateError) -> None:
        """Something could not be read; the rest goes on."""
        self.errors += 1
        if len(self.sentences) < _MOST_ERRORS:
            self.sentences.append(f"{what}: {error.message}"[:_LONGEST_ERROR])

    def expected_end(self, now: datetime) -> datetime | None:
        """If it goes on like this; None while nobody can know. Many volumes are read at once: their parts count."""
        done = self.done + sum(self.parts.values())
        if self.stage is not SyncStage.READING or not done:
            return None
        return now + (now - (self.reading_began or self.started_at)) / done * max(self.total - done, 0)

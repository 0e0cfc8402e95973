"""A backup as the queue remembers it, and what it wants."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tidegate.decide.jobs.events import times_passed_over
from tidegate.decide.queue.overlap import is_glob
from tidegate.model.backups.backup import Backup, BackupPhase

Key = tuple[int, int, str]
"""A place in the queue: the number that it is ordered by, the ticket, the name."""


class Wanted(NamedTuple):
    """What a backup is about. Many backups want the same, so it is kept once."""

    included: tuple[str, ...]
    excluded: tuple[str, ...]
    labels: tuple[frozenset[tuple[str, str]], ...] = ()
    """Volumes that carry all labels of one of these; empty: all volumes."""
    hooks: bool = False

    @property
    def patterns(self) -> tuple[str, ...]:
        """All that it spells out."""
        return (*self.included, *self.excluded)

    @property
    def needs_universe(self) -> bool:
        """Whether other backups' namespaces matter to what its globs mean."""
        return any(is_glob(pattern) and pattern != "*" for pattern in self.patterns)

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """Where all that it means is; None if that can be anywhere."""
        return self.included if self.included and not any(map(is_glob, self.included)) else None


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A backup as the queue remembers it: little, for there may be very many."""

    name: str
    phase: BackupPhase
    wanted: Wanted
    target: str
    ticket: int
    priority: int
    created: datetime | None
    cancel: bool = False
    deleting: bool = False
    moved: bool = False
    """A move gave it this ticket, and its status does not say so yet."""
    why: tuple[str, str] = ("", "")
    """The reason and the message that are stored: why it waits, as far as anyone was told."""
    words: int = 0
    """How often that was written since it joined the queue."""

    @classmethod
    def of(cls, backup: Backup) -> "QueueEntry":
        """What matters of a stored backup."""
        spec, status = backup.spec, backup.status
        return cls(
            name=backup.name,
            phase=status.phase,
            wanted=Wanted(
                spec.included_namespaces,
                spec.excluded_namespaces,
                tuple(frozenset(choice.match_labels.items()) for choice in spec.label_choices),
                bool(spec.hooks.resources),
            ),
            target=spec.storage_location,
            ticket=backup.ticket or 0,
            priority=spec.priority,
            created=backup.metadata.creation_timestamp,
            cancel=spec.cancel,
            deleting=backup.deleting,
            moved=status.queue_ticket is not None and backup.ticket != status.queue_ticket,
            why=(waiting.reason, waiting.message) if (waiting := status.condition("Waiting")) else ("", ""),
            words=times_passed_over(backup),
        )

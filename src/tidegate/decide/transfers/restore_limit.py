"""Who may restore a volume now: at most so many at a time, whoever asked first goes first.

The label tells it all, as in Longhorn's design: Unix nanoseconds when the restore was asked for, `in-progress` from
the moment it takes a slot, gone when it is over. So anybody who lists labels sees the line and who holds a slot.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from tidegate.model.reasons import Reason
from tidegate.model.transfers.transfer import Transfer, TransferPhase

T = TypeVar("T", bound=Transfer)

RESTORE_PRIORITY_LABEL = "longhorn.io/backup-restore-priority"
IN_PROGRESS = "in-progress"
# What the label said before `in-progress`: a download that must begin anew keeps its place.
ASKED_ANNOTATION = "tidegate.dev/restore-asked"
RESTORES_PAUSED = "restores are paused: concurrent-backup-restore-limit is 0"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def asked_label(when: datetime, nth: int) -> str:
    """The label of the `nth` download of a restore that was asked for at `when`: lower goes first."""
    return str((when - _EPOCH) // _MICROSECOND * 1_000 + nth)


def asked_at(transfer: Transfer) -> int:
    """When it was asked for, in Unix nanoseconds: as its label says or said, else when it was created."""
    told = (
        transfer.metadata.labels.get(RESTORE_PRIORITY_LABEL, ""),
        transfer.metadata.annotations.get(ASKED_ANNOTATION, ""),
    )
    number = next((text for text in told if is_asked(text)), None)
    if transfer.direction == "download" and number is not None:
        return int(number)
    created = transfer.metadata.creation_timestamp
    return int(asked_label(created, 0)) if created else 0


def is_asked(label: str) -> bool:
    """Whether a label's value is a time; whatever else somebody wrote there is none."""
    return label.isascii() and label.isdecimal()


def holds_slot(transfer: Transfer) -> bool:
    """Whether it counts against the limit: what is labelled so does, whatever its phase says, and what runs does.

    So one that is over keeps its slot until its label is gone, and nobody ever sees more labels than slots.
    """
    if transfer.direction != "download":
        return False
    phase = transfer.status.phase
    labelled = transfer.metadata.labels.get(RESTORE_PRIORITY_LABEL) == IN_PROGRESS
    return labelled or not (phase is TransferPhase.NEW or phase.final)


def asked(download: T) -> T:
    """With the label of one that waits: also for one that had a slot and must begin anew, at its old place."""
    return _labelled(download, str(asked_at(download)))


def in_progress(download: T) -> T:
    """With the label of one that takes a slot; when it was asked for stays known."""
    annotations = {**download.metadata.annotations, ASKED_ANNOTATION: str(asked_at(download))}
    return _labelled(download, IN_PROGRESS).with_metadata(annotations=annotations)


def over(download: T) -> T:
    """Without the label: it neither waits nor runs."""
    labels = {key: value for key, value in download.metadata.labels.items() if key != RESTORE_PRIORITY_LABEL}
    return download.with_metadata(labels=labels)


def _labelled(download: T, value: str) -> T:
    return download.with_metadata(labels={**download.metadata.labels, RESTORE_PRIORITY_LABEL: value})


@dataclass(frozen=True)
class RestoreLimit:
    """What the settings say: altogether, where 0 pauses all, and on each node, where 0 is no limit."""

    total: int
    per_node: int = 0

    @property
    def paused(self) -> bool:
        """Whether no restore may begin: another reason to wait than a full house."""
        return self.total == 0

    def free(self, *, restoring: int) -> bool:
        """Whether one more may begin. A limit that was lowered ends nobody, so more than the limit may run."""
        return restoring < self.total

    def free_on_node(self, *, restoring: int) -> bool:
        """Whether one more may begin on a node that restores so many."""
        return self.per_node == 0 or restoring < self.per_node

    def why(self, *, restoring: int, position: int) -> tuple[Reason, str]:
        """What to tell one that gets no slot."""
        if self.paused:
            return Reason.RESTORES_DISABLED, "restores are paused: concurrent-backup-restore-limit is 0"
        return Reason.RESTORE_LIMIT, f"{restoring}/{self.total}, position {position}"

    def why_on_node(self, node: str, *, restoring: int, position: int) -> tuple[Reason, str]:
        """What to tell one for which there is no slot where it must go."""
        return Reason.RESTORE_LIMIT, f"{node} {restoring}/{self.per_node}, position {position}"

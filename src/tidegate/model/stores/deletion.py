"""Deletions: somebody wants volume backups, or all of a volume, gone from a store.

The record is the wish itself: from the moment that it is stored, what it names is in no list, whatever becomes of the
server, the catalogue or the store. It is gone for good only when a worker has removed it under the volume's lock.
"""

from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.resource import Resource, Spec, Status

# Leads to all deletions and transfers of one volume of one store: names of volumes are too long for a label.
STORE_VOLUME_LABEL = "tidegate.dev/store-volume"


def store_volume_mark(target: str, volume: str) -> str:
    """The value of that label."""
    return sha256(f"{target}/{volume}".encode()).hexdigest()[:40]


class DeletionPhase(StrEnum):
    """Waiting and Retrying can be cancelled; Running is at work; the others are the end."""

    WAITING = "Waiting"
    RUNNING = "Running"
    RETRYING = "Retrying"
    DONE = "Done"
    REFUSED = "Refused"
    """It cannot be done; what it named is in the lists again."""
    CANCELED = "Canceled"

    @property
    def final(self) -> bool:
        """Whether it is over."""
        return self in {DeletionPhase.DONE, DeletionPhase.REFUSED, DeletionPhase.CANCELED}


class DeletionSpec(Spec):
    """What shall go."""

    target: str
    """Name of the BackupTarget."""
    url: str
    """The store that it named when somebody asked: a target that points elsewhere by now is another store."""
    volume: str
    """The volume's name in the store."""
    backups: tuple[str, ...] = ()
    """Names of volume backups. Empty: the whole volume, with everything in its directory."""
    upload: str = ""
    """The upload whose own deletion asks for this, as `Kind/name`; such a deletion cannot be cancelled."""
    cancel: bool = False
    """One way: once true, never false again."""
    retry_now_after: int = 0
    """Somebody does not want to wait for the try that comes after so many that failed; the one after it waits again."""


class DeletionStatus(Status):
    """How it stands."""

    phase: DeletionPhase = DeletionPhase.WAITING
    message: str = ""
    """Why it waits, is tried again or was refused; or what the worker warned of."""
    attempts: int = 0
    """How often a worker was sent that failed."""
    retry_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    settled: bool = False
    """The lists no longer need it: the catalogue has looked at the store since, or shows what it named again."""


class Deletion(Resource):
    """One wish to delete."""

    plural: ClassVar[str] = "deletions"

    kind: Literal["Deletion"] = "Deletion"
    spec: DeletionSpec
    status: DeletionStatus = Field(default_factory=DeletionStatus)

    @property
    def whole_volume(self) -> bool:
        """Whether everything of the volume shall go."""
        return not self.spec.backups

    @property
    def not_before(self) -> datetime | None:
        """When it may be tried again; None if there is nothing to wait for."""
        return None if self.spec.retry_now_after == self.status.attempts else self.status.retry_at

    @property
    def hides(self) -> bool:
        """Whether what it names must be in no list."""
        return not self.status.settled and not self.spec.cancel

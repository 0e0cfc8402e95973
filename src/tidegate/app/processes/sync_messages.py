"""What the server and the process that syncs say to each other."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from tidegate.catalogue.progress import SyncProgress
from tidegate.catalogue.target_sync import SyncOrder, SyncOutcome
from tidegate.disk.messages import Messages, SentError
from tidegate.model.plain import Plain
from tidegate.model.transfers.mover_job import TargetAccess


@dataclass(frozen=True, kw_only=True)
class Begin(Plain):
    """The first order of all: whose catalogue it is."""

    type: Literal["begin"] = "begin"
    catalogue: str
    """The path of its file."""


@dataclass(frozen=True, kw_only=True)
class Sync(Plain):
    """Carry this out, beside whatever else runs."""

    type: Literal["sync"] = "sync"
    number: int
    access: TargetAccess
    order: SyncOrder
    started_at: datetime
    requests_in_flight: int


@dataclass(frozen=True, kw_only=True)
class EndSync(Plain):
    """Stop it. It is answered with its end all the same, once nothing of it runs."""

    type: Literal["end"] = "end"
    number: int


@dataclass(frozen=True, kw_only=True)
class HowFar(Plain):
    """Said now and then while a sync runs, if something has changed."""

    type: Literal["progress"] = "progress"
    number: int
    progress: SyncProgress


@dataclass(frozen=True, kw_only=True)
class Ended(Plain):
    """The last word of a sync: what came of it, or its error. Neither: it was stopped."""

    type: Literal["ended"] = "ended"
    number: int
    progress: SyncProgress
    outcome: SyncOutcome | None = None
    error: SentError | None = None


Order = Begin | Sync | EndSync
Word = HowFar | Ended
ORDERS: Messages[Order] = Messages([Begin, Sync, EndSync])
WORDS: Messages[Word] = Messages([HowFar, Ended])

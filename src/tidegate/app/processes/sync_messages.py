"""What the server and the process that syncs say to each other: pickled values, each after its length.

Both are the same program, and nobody else has an end of these pipes.
"""

import asyncio
import pickle
import struct
import traceback
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tidegate.catalogue.progress import SyncProgress
from tidegate.catalogue.target_sync import SyncOrder, SyncOutcome
from tidegate.model.transfers.mover_job import TargetAccess

_LENGTH = struct.Struct("<I")


@dataclass(frozen=True)
class Begin:
    """The first word of all: whose catalogue it is."""

    catalogue: Path


@dataclass(frozen=True)
class Sync:
    """Carry this out, beside whatever else runs."""

    number: int
    access: TargetAccess
    order: SyncOrder
    started_at: datetime
    requests_in_flight: int


@dataclass(frozen=True)
class EndSync:
    """Nobody wants it any more. It is answered with its end all the same, once nothing of it runs."""

    number: int


@dataclass(frozen=True)
class HowFar:
    """Said now and then while a sync runs, if something has changed."""

    number: int
    progress: SyncProgress


@dataclass(frozen=True)
class Ended:
    """The last word of a sync; with None for the outcome of one that was ended."""

    number: int
    progress: SyncProgress
    outcome: SyncOutcome | Exception | None


Order = Begin | Sync | EndSync
Word = HowFar | Ended


def packed(message: Order | Word) -> bytes:
    """The bytes for the pipe."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def able_to_travel(error: BaseException) -> Exception:
    """The same error, with its traceback as a note; one that cannot be pickled leaves its words behind."""
    told = "".join(traceback.format_exception(error))
    try:
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own
    except Exception:  # noqa: BLE001  # whatever a library's error raises
        copy = None
    travelling = copy if isinstance(copy, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
    travelling.add_note(told)
    return travelling


async def next_message(pipe: asyncio.StreamReader) -> Any:  # noqa: ANN401  # an Order here, a Word there
    """None: the other end is closed."""
    try:
        (length,) = _LENGTH.unpack(await pipe.readexactly(_LENGTH.size))
        return pickle.loads(await pipe.readexactly(length))  # noqa: S301  # from a process of our own
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None

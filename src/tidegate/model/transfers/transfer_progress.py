"""How far a transfer is, and what came of it: what a mover tells and a transfer's status keeps."""

from dataclasses import dataclass
from datetime import datetime

from tidegate.model.plain import Plain


@dataclass(frozen=True, kw_only=True)
class TransferProgress(Plain):
    """How far it is, in bytes that the mover looks at."""

    stage: str = ""
    bytes_done: int = 0
    total_bytes: int | None = None
    """What there is to do, in whole blocks; of a volume that has hardly changed far less than its size."""
    size: int | None = None
    """Bytes of the volume, as people count them; absent until the mover has measured it."""
    bytes_per_second: float | None = None
    updated_at: datetime | None = None
    """When the mover was last heard of, by the server's clock; a mover itself leaves it out."""


@dataclass(frozen=True, kw_only=True)
class TransferResult(Plain):
    """What came of it."""

    url: str = ""
    size: int = 0
    new_bytes: int = 0
    """Bytes that the store had to take, compressed."""
    warnings: tuple[str, ...] = ()
    snapshot: str | None = None
    """How an upload read its volume: `reflink`, from a snapshot, or `none`, live. Absent: nothing was read."""
    left_out: tuple[str, ...] = ()
    """Paths in a tree that could not be read and so are not in the backup: the first hundred of them."""

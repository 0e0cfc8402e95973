"""The data of one volume, to be read by an upload or written by a download.

Every volume is, to the data path, a run of bytes cut into blocks. A file tree becomes one by being packed: `volumes/`
lays it out, `format/` says how it is written down, and the data path moves it like any image.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

NO_SNAPSHOT = "none"


class VolumeSource(Protocol):
    """One volume opened for reading. Used as a context manager; reads may come from many threads at once.

    To open it takes the snapshot, where there is one, and to leave it removes the snapshot. Whoever must say that a
    volume is ready to be moved opens it, says so, and waits: what a snapshot holds is what was there at that time.
    """

    def begin_reading(self) -> None:
        """Called once, after any wait, before anything else is asked: who has no snapshot looks at the volume again."""
        ...

    @property
    def size(self) -> int:
        """Bytes in all, as a restore will bring them back."""
        ...

    @property
    def shown_size(self) -> int:
        """Bytes as a person counts them: of the files of a tree, else all of them. As far as it is known by now."""
        ...

    @property
    def bytes_to_read(self) -> int:
        """About what the rounds hold in all, to tell how far an upload is."""
        ...

    @property
    def cfg_parameters(self) -> dict[str, str]:
        """What a restore must know beside the bytes; goes into the `Parameters` of the backup's cfg."""
        ...

    def proof(self, *, settled_before: datetime) -> str | None:
        """What stays equal exactly as long as nobody writes to the volume; None if nothing proves that.

        Nothing does if the last write is so close to `settled_before` that another one could have got the same time,
        or if the volume was written to since it was opened.
        """
        ...

    def kept_blocks(self) -> Iterator[tuple[int, int]]:
        """(offset, offset in the base) of blocks that are proven to be as the backup has them that this one builds on.

        They need not be read; they are in none of the rounds.
        """
        ...

    def rounds(self) -> Iterator[Iterator[tuple[int, int]]]:
        """Of each round (offset, length) of what may hold data, ascending, not overlapping. The rest reads as zeros.

        A round is asked for when everything in the rounds before it was read; no block is in two of them. Size,
        parameters and warnings are final when there is no further round.
        """
        ...

    def read_at(self, offset: int, length: int) -> bytes:
        """Exactly these bytes; zeros behind the end. Raises SourceUnreadable if they cannot be had."""
        ...

    def warnings(self) -> Sequence[str]:
        """What a person should know about this reading: files skipped, files that changed under us."""
        ...

    @property
    def snapshot(self) -> str:
        """`reflink` if a snapshot is read, `none` if the volume itself."""
        ...

    @property
    def left_out(self) -> Sequence[str]:
        """Paths that could not be read, and so are not in the backup: the first hundred. Final with the warnings."""
        ...

    def __enter__(self) -> "VolumeSource": ...

    def __exit__(self, *_: object) -> None: ...


class BackupContent(Protocol):
    """What one volume backup holds. Every byte was checked against its block's name before anyone sees it."""

    @property
    def size(self) -> int:
        """Bytes in all."""
        ...

    @property
    def block_size(self) -> int:
        """Bytes per block."""
        ...

    @property
    def block_offsets(self) -> Sequence[int]:
        """Where blocks with data begin, ascending. The rest is zeros."""
        ...

    @property
    def cfg_parameters(self) -> dict[str, str]:
        """What the source left for its restore."""
        ...

    @property
    def kept(self) -> frozenset[int] | None:
        """None: the destination begins empty. Else it holds an earlier backup, and at these offsets the same blocks.

        Nobody vouches for what happened to it since; `is_block` tells whether a block is still there.
        """
        ...

    @property
    def makers(self) -> int:
        """How many processes may help whoever writes what it holds: there is memory for so many beside its threads."""
        ...

    def is_block(self, offset: int, block: bytes) -> bool:
        """Whether these bytes, filled up with zeros, are the block at `offset`, one of `block_offsets`."""
        ...

    def read_block(self, offset: int) -> bytes:
        """One whole block; `offset` is one of `block_offsets`. Raises DamagedBlock or MissingBlock.

        For one thread that goes through the content in order: what follows is read meanwhile.
        """
        ...

    def fetch_block(self, offset: int) -> bytes:
        """As `read_block`, for many threads at once and in any order: nothing is read that was not asked for."""
        ...

    @property
    def fetched_at_once(self) -> int:
        """How many blocks each of many threads should ask for with `fetch_blocks`; there is memory for so many."""
        ...

    def fetch_blocks(self, offsets: Sequence[int]) -> list[bytes]:
        """As `fetch_block` of each, all or none: to compare several with their names costs little more than one."""
        ...

    def in_parallel(self, items: Iterable[T], do: Callable[[T], None]) -> None:
        """Do every item, as many at a time as the store has answers for, taken in order, one by one.

        The first error ends it and is raised once nothing runs any more; an item that was begun is finished.
        """
        ...

    def ahead(self, items: Iterable[T], prepare: Callable[[T], R], *, blocks: int = 1) -> Iterator[tuple[T, R]]:
        """Each item and what its preparation gave, in order; as many as the store has answers for are prepared at once.

        For work of which a part cannot be shared: that is done by the one thread that asks. An item fetches at the most
        so many `blocks`: one, or `fetched_at_once`.
        """
        ...


class VolumeSink(Protocol):
    """Where one volume is restored to. What was there before stays until everything new is whole."""

    @property
    def chosen_bytes(self) -> int | None:
        """Of the files that `receive` brought back where only some were chosen; None where all of it is."""
        ...

    def receive(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> Sequence[str]:
        """Write everything beside the destination, make it durable, then swap it in; returns warnings.

        After any error, cancellation included, the destination is as it was and nothing is left beside it.
        `on_bytes` is told how many more bytes of the content are done, by any thread; it may raise WorkCancelled.
        Raises DestinationUnusable or NoSpace, with a sentence.
        """
        ...

    def read_back(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> None:
        """Read what `receive` wrote from the disk again and compare all of it with the backup's checksums.

        Raises RestoredDataDiffers that names the first difference. Changes nothing.
        """
        ...

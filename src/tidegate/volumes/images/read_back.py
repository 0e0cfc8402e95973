"""Reading a restored image or device again, to see that the disk gives back what the backup holds."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tidegate.errors import RestoredDataDiffers
from tidegate.format.trees.shown_path import shown_path
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.images.holes import data_ranges
from tidegate.volumes.images.writer import Stretch, stretches

_PIECE = 4 * 1024 * 1024


def compare_image(path: str, content: BackupContent, *, on_bytes: Callable[[int], None]) -> None:
    """Every block against its checksum, every gap against zeros. Raises RestoredDataDiffers with the first offset."""
    with reading(path) as handle:
        size = os.lseek(handle, 0, os.SEEK_END)
        if size < content.size:
            raise RestoredDataDiffers(f"{path} has {size} bytes after the restore; the backup has {content.size}")

        def compare(stretch: Stretch) -> None:
            if stretch.is_block:
                same = content.is_block(stretch.offset, os.pread(handle, stretch.length, stretch.offset))
            else:
                same = is_zero(handle, stretch.offset, stretch.length)
            if not same:
                raise RestoredDataDiffers(f"{path} reads back differently from byte {stretch.offset} on")
            on_bytes(content.block_size if stretch.is_block else 0)

        content.in_parallel(stretches(content, with_gaps=True), compare)


def is_zero(handle: int, offset: int, length: int) -> bool:
    """Whether a range reads as zeros; holes are not even read."""
    for begin, size in data_ranges(handle, offset + length, begin_at=offset):
        for at in range(begin, begin + size, _PIECE):
            if os.pread(handle, min(_PIECE, begin + size - at), at).strip(b"\0"):
                return False
    return True


@contextmanager
def reading(path: str) -> Iterator[int]:
    """A handle whose bytes should come from the disk: the system is asked to drop what it has of them in memory."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        forget_cached(handle)
        yield handle
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        os.close(handle)


def forget_cached(handle: int) -> None:
    """Have the next read ask the disk. Only a wish, and only for what is written out; `receive` saw to that."""
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)


def unreadable(path: str, error: OSError) -> RestoredDataDiffers:
    """A disk that does not give back what it took is the very thing that is looked for."""
    return RestoredDataDiffers(f"{shown_path(path)} cannot be read back: {error.strerror or error}")

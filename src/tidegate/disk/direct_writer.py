"""Writing past the page cache.

Restored bytes must be durable before they are swapped in. Written the usual way, they are copied into the page cache
first and a sync waits for all of them at the end; written directly, they are on the disk when the call returns, and
several threads keep it busy while others decompress. That made restores of images nearly twice as fast.
"""

import errno
import mmap
import os
import threading

_PAGE = 4096
_CANNOT = frozenset({errno.EINVAL, errno.EOPNOTSUPP})


class DirectWriter:
    """Writes into an open file, from many threads: whole pages directly, where the file system can, the rest as usual.

    The same page must not be written both ways. Directly written bytes are durable once the file was synced too, which
    then has little left to do.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._direct = _reopened(handle)

    def write_at(self, piece: bytes | memoryview, offset: int) -> None:
        """All of it."""
        view = memoryview(piece)
        whole = len(view) // _PAGE * _PAGE if offset % _PAGE == 0 else 0
        done = self._write_directly(view[:whole], offset) if whole and self._direct is not None else 0
        write_at(self._handle, view[done:], offset + done)

    def close(self) -> None:
        """The file itself stays open."""
        if self._direct is not None:
            os.close(self._direct)
            self._direct = None

    def __enter__(self) -> "DirectWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write_directly(self, pages: memoryview, offset: int) -> int:
        """How much of it was written, in whole pages; the caller sees to the rest."""
        handle = self._direct
        if handle is None:
            return 0
        try:
            written = os.pwrite(handle, _aligned(pages), offset)
        except OSError as error:
            if error.errno in _CANNOT:
                return 0
            raise
        return written // _PAGE * _PAGE


def write_at(handle: int, piece: bytes | memoryview, offset: int) -> None:
    """All of it, the usual way."""
    rest = memoryview(piece)
    while rest:
        written = os.pwrite(handle, rest, offset)
        rest, offset = rest[written:], offset + written


def _reopened(handle: int) -> int | None:
    """A second handle of the same file, for direct writes; None where there is no such thing."""
    try:
        return os.open(f"/proc/self/fd/{handle}", os.O_WRONLY | os.O_DIRECT | os.O_CLOEXEC)
    except OSError:
        return None


_buffers = threading.local()


def _aligned(pages: memoryview) -> memoryview:
    """The same bytes where the disk can fetch them from: at the beginning of a page. Good until the thread's next."""
    buffer: mmap.mmap | None = getattr(_buffers, "mine", None)
    if buffer is None or len(buffer) < len(pages):
        buffer = _buffers.mine = mmap.mmap(-1, len(pages))
    buffer[: len(pages)] = pages
    return memoryview(buffer)[: len(pages)]

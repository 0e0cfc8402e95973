"""Calls of Linux that Python does not offer. Where one is missing, the caller is told or has another way."""

import ctypes
import os

_RENAME_EXCHANGE = 2
_SYNC_FILE_RANGE_WRITE = 2


def exchange(one: str, other: str, *, directory: int) -> bool:
    """Swap two names of one directory in a single step; False if this system or file system cannot."""
    call = getattr(_LIBC, "renameat2", None)
    if call is None:
        return False
    return bool(call(directory, os.fsencode(one), directory, os.fsencode(other), _RENAME_EXCHANGE) == 0)


def sync_file_system(handle: int) -> None:
    """Make everything written to the file system of `handle` durable: quicker than syncing a million files."""
    call = getattr(_LIBC, "syncfs", None)
    if call is None:
        os.sync()
    elif call(handle) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def begin_writing_out(handle: int, offset: int, length: int) -> None:
    """Let the disk begin with these bytes while others are computed, so that a sync finds little left. Only a wish."""
    call = getattr(_LIBC, "sync_file_range", None)
    if call is not None:
        call(handle, ctypes.c_int64(offset), ctypes.c_int64(length), _SYNC_FILE_RANGE_WRITE)


_LIBC = ctypes.CDLL(None, use_errno=True)

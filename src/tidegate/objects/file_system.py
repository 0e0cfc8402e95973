"""What Linux tells and does about a whole file system, and Python does not offer."""

import ctypes
import os

# By the numbers of statfs(2): ext2-4, XFS, Btrfs, tmpfs, ZFS, F2FS, overlayfs, bcachefs. Of these it is known that one
# call makes everything durable, and that all see each other's files at once. Shares and FUSE promise neither.
_LOCAL = frozenset(
    {0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x2FC12FC1, 0xF2F52010, 0x794C7630, 0xCA451A4E},
)
_TYPE_MASK = 0xFFFFFFFF
_LONGS_IN_STATFS = 64
_SYNC_FILE_RANGE_WRITE = 2


def is_local(handle: int) -> bool:
    """Whether `handle` lies on a disk of this machine, as far as that is certain."""
    answer = (ctypes.c_long * _LONGS_IN_STATFS)()
    call = getattr(_LIBC, "fstatfs", None)
    return call is not None and call(handle, ctypes.byref(answer)) == 0 and answer[0] & _TYPE_MASK in _LOCAL


def sync_file_system(handle: int) -> None:
    """Make everything durable that was written to the file system of `handle`, by whomever."""
    call = getattr(_LIBC, "syncfs", None)
    if call is None:
        os.sync()
    elif call(handle) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def begin_writing_out(handle: int) -> None:
    """Let the disk begin with what was written, so that a sync later has less to wait for. Only a wish."""
    call = getattr(_LIBC, "sync_file_range", None)
    if call is not None:
        call(handle, ctypes.c_int64(0), ctypes.c_int64(0), _SYNC_FILE_RANGE_WRITE)


_LIBC = ctypes.CDLL(None, use_errno=True)

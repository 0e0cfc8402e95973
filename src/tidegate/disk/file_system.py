"""What Linux tells and does about a file system. Where a call is missing, the caller is told or has another way."""

import ctypes
import os

# By the numbers of statfs(2): ext2-4, XFS, Btrfs, tmpfs, ZFS, F2FS, overlayfs, bcachefs. Of these it is known that one
# call makes everything durable, and that all see each other's files at once. Shares and FUSE promise neither.
_LOCAL = frozenset(
    {0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x2FC12FC1, 0xF2F52010, 0x794C7630, 0xCA451A4E},
)
# proc, sysfs, cgroup 1 and 2, debugfs, tracefs, securityfs, devpts, pstore, bpf, configfs, efivarfs, fusectl, mqueue,
# binfmt_misc, nsfs: what the kernel shows of itself.
_KERNELS_OWN = frozenset(
    {
        *(0x9FA0, 0x62656572, 0x27E0EB, 0x63677270, 0x64626720, 0x74726163, 0x73636673, 0x1CD1),
        *(0x6165676C, 0xCAFE4A11, 0x62656570, 0xDE5E81E4, 0x65735543, 0x19800202, 0x42494E4D, 0x6E736673),
    }
)
_TYPE_MASK = 0xFFFFFFFF
_LONGS_IN_STATFS = 64
_SYNC_FILE_RANGE_WRITE = 2
_RENAME_EXCHANGE = 2


def is_local(handle: int) -> bool:
    """Whether `handle` lies on a disk of this machine, as far as that is certain."""
    return _type_of(handle) in _LOCAL


def is_kernels_own(handle: int) -> bool:
    """Whether `handle` lies where the kernel shows itself: no file can be made there, whatever the rights say."""
    return _type_of(handle) in _KERNELS_OWN


def _type_of(handle: int) -> int | None:
    answer = (ctypes.c_long * _LONGS_IN_STATFS)()
    call = getattr(_LIBC, "fstatfs", None)
    if call is None or call(handle, ctypes.byref(answer)) != 0:
        return None
    return int(answer[0] & _TYPE_MASK)


def sync_file_system(handle: int) -> None:
    """Make everything durable that was written to the file system of `handle`, by whomever.

    Quicker than syncing a million files.
    """
    call = getattr(_LIBC, "syncfs", None)
    if call is None:
        os.sync()
    elif call(handle) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def begin_writing_out(handle: int, offset: int = 0, length: int = 0) -> None:
    """Let the disk begin with these bytes, or all up to the end, so that a sync finds little left. Only a wish."""
    call = getattr(_LIBC, "sync_file_range", None)
    if call is not None:
        call(handle, ctypes.c_int64(offset), ctypes.c_int64(length), _SYNC_FILE_RANGE_WRITE)


def exchange(one: str, other: str, *, directory: int) -> bool:
    """Swap two names of one directory in a single step; False if this system or file system cannot."""
    call = getattr(_LIBC, "renameat2", None)
    if call is None:
        return False
    return bool(call(directory, os.fsencode(one), directory, os.fsencode(other), _RENAME_EXCHANGE) == 0)


_LIBC = ctypes.CDLL(None, use_errno=True)

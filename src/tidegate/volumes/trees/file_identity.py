"""What tells whether a file is still the one that was seen before."""

import os

# Bytes, mtime and ctime in nanoseconds, inode. Not the device: a snapshot of the same file system is mounted anew each
# time. The ctime cannot be set by anyone, and changes with the content, the mode, the owner and the attributes.
Identity = tuple[int, int, int, int]


def identity_of(found: os.stat_result) -> Identity:
    """As of this look."""
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino

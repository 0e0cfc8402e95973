"""A little room on the disk of the data directory, given up by a start that finds the disk full."""

import errno
import os
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

_RESERVE_BYTES = 2 * 1024 * 1024
# What a start writes: logs of databases, its address, what became of interrupted work.
_ROOM_TO_START = 512 * 1024
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def keep_reserve(path: Path) -> None:
    """Make the reserve where there is room for it. Give it up where there is no room to start.

    A server that cannot start shows no backups and restores none, and a full disk is when they are needed.
    """
    probe = path.with_name(f".{path.name}.probe")
    room = _can_have(probe, _ROOM_TO_START)
    probe.unlink(missing_ok=True)
    if room and not path.exists() and not _can_have(path, _RESERVE_BYTES):
        path.unlink(missing_ok=True)
    elif not room and path.exists():
        path.unlink()
        log.warning("the disk of the data directory is full; its reserve is used to start", how="free some space")


def _can_have(path: Path, number: int) -> bool:
    """Whether there is room for a file of so many bytes; what is full or used up by a quota shows only by trying."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.posix_fallocate(handle, 0, number)
        finally:
            os.close(handle)
    except OSError as error:
        return error.errno not in _FULL
    return True

"""A directory whose files can share blocks: XFS in a file, mounted where this machine allows it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# mkfs.xfs makes nothing smaller than 300 MiB; the file has holes.
_DISK_BYTES = 512 * 2**20
GIVEN = "TIDEGATE_REFLINK_DIR"


class NoReflinks(Exception):
    """There is no such directory here; the message says why."""


@contextmanager
def reflink_directory(home: Path) -> Iterator[Path]:
    """Yield the directory that TIDEGATE_REFLINK_DIR names, else a fresh file system. Raise NoReflinks."""
    if given := os.environ.get(GIVEN):
        yield Path(given)
        return
    if os.geteuid() != 0 or not shutil.which("mkfs.xfs"):
        raise NoReflinks(f"needs root and mkfs.xfs (package xfsprogs), or a directory named by {GIVEN}")
    disk, mount = home / "disk", home / "mount"
    mount.mkdir()
    with disk.open("wb") as file:
        file.truncate(_DISK_BYTES)
    _do("mkfs.xfs", "-q", "-m", "reflink=1", str(disk))
    _do("mount", "-o", "loop", str(disk), str(mount))
    try:
        yield mount
    finally:
        # Lazily: what a test that failed has left open must not keep it.
        _do("umount", "-l", str(mount))


def _do(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise NoReflinks(f"{command[0]}: {done.stderr.strip()}")

"""Files and directories that are for their owner only."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

_OTHERS = 0o077


def make_private(path: Path) -> None:
    """Make an empty file that only its owner may read, unless there is one. SQLite gives its log the same rights."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def keep_private(paths: Iterable[Path]) -> list[Path]:
    """Take all rights of others from what is there, links left alone; return what this process may not change."""
    refused = []
    for path in paths:
        try:
            mode = path.lstat().st_mode
            if mode & _OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
        except FileNotFoundError:
            continue
        except OSError:
            refused.append(path)
    return refused

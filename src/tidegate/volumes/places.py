"""What is at a path now, for a person who is about to restore to it."""

import os
import stat

from tidegate.model.restore_plan import Place, PlaceState

_MOST_COUNTED = 1000


def look_at(path: str) -> Place:
    """Look without changing anything, not even the time of the last access; what cannot be seen is told."""
    try:
        found = os.stat(path)  # where a link leads to is what a restore replaces
        if stat.S_ISDIR(found.st_mode):
            return _directory(path)
    except (FileNotFoundError, NotADirectoryError):
        return Place()
    except OSError as error:
        return Place(state=PlaceState.UNREADABLE, detail=error.strerror or str(error))
    if stat.S_ISREG(found.st_mode):
        return Place(state=PlaceState.FILE, detail=f"a file of {found.st_size} bytes")
    if stat.S_ISBLK(found.st_mode):
        return Place(state=PlaceState.DEVICE, detail="a block device")
    return Place(state=PlaceState.OTHER, detail="neither a file nor a directory")


def _directory(path: str) -> Place:
    entries = 0
    with os.scandir(path) as listing:
        for _ in listing:
            entries += 1
            if entries == _MOST_COUNTED:
                break
    mounted = os.path.ismount(path)
    if not entries:
        return Place(state=PlaceState.EMPTY, detail="an empty directory", mounted=mounted)
    count = f"{entries} or more" if entries == _MOST_COUNTED else str(entries)
    detail = f"a directory with {count} {'entry' if entries == 1 else 'entries'}"
    return Place(state=PlaceState.DIRECTORY, detail=detail, mounted=mounted)

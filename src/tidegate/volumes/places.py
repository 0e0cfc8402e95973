"""What is at a path now, for a person who is about to restore to it."""

import os
import stat
from collections.abc import Iterable

from tidegate.disk import in_use
from tidegate.disk.file_system import is_kernels_own
from tidegate.model.restores.restore_plan import Place, PlaceState, Room
from tidegate.volumes.trees.mounted_tree import OWN_ENTRY

_MOST_COUNTED = 1000


def look_at(path: str) -> Place:
    """Look without changing anything, not even the time of the last access; what cannot be seen is told."""
    try:
        found = os.stat(path)  # where a link leads to is what a restore replaces
        if stat.S_ISDIR(found.st_mode):
            return _directory(path)
    except (FileNotFoundError, NotADirectoryError):
        return Place(in_the_way=_in_the_way(_nearest(path)))
    except OSError as error:
        return Place(state=PlaceState.UNREADABLE, detail=error.strerror or str(error))
    if stat.S_ISREG(found.st_mode):
        return Place(state=PlaceState.FILE, detail=f"a file of {found.st_size} bytes")
    if stat.S_ISBLK(found.st_mode):
        user = in_use.user_of_device(path)
        detail = f"a block device, {user}" if user else "a block device"
        return Place(state=PlaceState.DEVICE, detail=detail, mounted=user is not None)
    return Place(state=PlaceState.OTHER, detail="neither a file nor a directory")


def look_with_room(path: str) -> Place:
    """The same, and how much can be brought back there: a restore builds beside what it replaces."""
    place = look_at(path)
    if place.state in {PlaceState.DEVICE, PlaceState.UNREADABLE} or place.in_the_way:
        return place
    try:
        beside = _nearest(path if place.mounted else os.path.dirname(os.path.realpath(path)))
        free, device = os.statvfs(beside), os.stat(beside).st_dev
    except OSError:
        return place
    return place.replace(room=Room(file_system=str(device), free_bytes=free.f_bavail * free.f_frsize))


def users_of(paths: Iterable[str]) -> dict[str, str]:
    """Who has something at these paths open, by path; who cannot be seen is not told, and found by the mover."""
    try:
        return in_use.users_of(paths)
    except OSError:
        return {}


def _nearest(path: str) -> str:
    """The path itself, or what exists above it: that is where missing directories would be made."""
    while not os.path.lexists(path):
        path = os.path.dirname(path) or "/"
    return path


def _in_the_way(nearest: str) -> str:
    if not os.path.isdir(nearest):
        return f"{nearest} is not a directory"
    if not os.access(nearest, os.W_OK | os.X_OK):
        return f"the server may not write to {nearest}"
    handle = os.open(nearest, os.O_PATH | os.O_DIRECTORY)
    try:
        return f"{nearest} belongs to the kernel and holds no files" if is_kernels_own(handle) else ""
    finally:
        os.close(handle)


def _directory(path: str) -> Place:
    entries = 0
    mounted = os.path.ismount(path)
    with os.scandir(path) as listing:
        for entry in listing:
            entries += not (mounted and entry.name == OWN_ENTRY)
            if entries == _MOST_COUNTED:
                break
    if not entries:
        return Place(state=PlaceState.EMPTY, detail="an empty directory", mounted=mounted)
    count = f"{entries} or more" if entries == _MOST_COUNTED else str(entries)
    detail = f"a directory with {count} {'entry' if entries == 1 else 'entries'}"
    return Place(state=PlaceState.DIRECTORY, detail=detail, mounted=mounted)

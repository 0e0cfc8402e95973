"""What is at a path now, for a person who is about to restore to it."""

import os
import stat
from collections.abc import Iterable, Sequence

from tidegate.disk import in_use
from tidegate.disk.file_system import is_kernels_own
from tidegate.errors import DestinationUnusable
from tidegate.model.restore_plan import Place, PlaceState, Room
from tidegate.volumes.mounted_tree import OWN_ENTRY

_MOST_COUNTED = 1000

Identity = tuple[int, int] | None


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


def touches(path: str, own: str) -> bool:
    """Whether a path is a directory of ours, lies in it or holds it, wherever links lead and whatever is mounted twice.

    The same counts for each part of the directory: one may be a link to, or mounted from, another place.
    """
    above = _identities(os.path.realpath(path))
    return any(_touch(above, _identities(os.path.realpath(part))) for part in (own, *_parts(own)))


def refuse_own(path: str, own: str) -> None:
    """Raise DestinationUnusable for a path that touches a directory of ours."""
    if own and touches(path, own):
        raise DestinationUnusable(
            f"{path} is, holds or lies in {own}, the data directory of this server", hint="choose another place"
        )


def _touch(above: Sequence[Identity], above_own: Sequence[Identity]) -> bool:
    return above_own[0] in above or (above[0] is not None and above[0] in above_own)


def _parts(own: str) -> list[str]:
    try:
        return [os.path.join(own, name) for name in os.listdir(own)]
    except OSError:
        return []


def _identities(path: str) -> list[Identity]:
    """Of the path itself and of all above it; None for what is not there."""
    found: list[Identity] = []
    while True:
        try:
            facts = os.stat(path)
            found.append((facts.st_dev, facts.st_ino))
        except OSError:
            found.append(None)
        if path == os.path.dirname(path):
            return found
        path = os.path.dirname(path)


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

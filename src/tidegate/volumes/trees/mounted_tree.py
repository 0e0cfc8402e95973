"""Replacing what a mounted file system holds: entry by entry, because its root cannot be swapped.

    /srv/shop/.restore.tidegate-x7ab        built here, in the same file system
    /srv/shop/.restore-not-finished-k2p9    what was there before, while entries change places

Should we be killed in between, the second name is still there. It says what happened, nothing is lost, and the tree is
not backed up as if it were whole.
"""

import contextlib
import os
import stat
import tempfile

from tidegate.errors import SourceUnreadable
from tidegate.volumes.workplace import remove, sync_directory

# Belongs to the file system, which looks for it when it is mended.
OWN_ENTRY = "lost+found"
_UNFINISHED = ".restore-not-finished-"


def entries_at(mount_point: str) -> list[str]:
    """What a mounted file system holds, without what every new one has."""
    return [name for name in os.listdir(mount_point) if name != OWN_ENTRY]


def swap_content(place: str, mount_point: str) -> None:
    """Let everything in `place`, a directory in `mount_point`, take the place of what is there; rights of the root too.

    An error puts everything back as it was.
    """
    rights = os.stat(place)
    os.chmod(place, 0o700)  # the rights are those of the restored root, which may forbid to take anything out
    aside = tempfile.mkdtemp(prefix=_UNFINISHED, dir=mount_point)
    working = {os.path.basename(place), os.path.basename(aside)}
    old = [name for name in entries_at(mount_point) if name not in working]
    new = [name for name in os.listdir(place) if name != OWN_ENTRY or not _exists(mount_point, name)]
    moves = [(mount_point, aside, name) for name in old] + [(place, mount_point, name) for name in new]
    done: list[tuple[str, str, str]] = []
    try:
        for move in moves:
            _move(*move)
            done.append(move)
        _give_rights(rights, place, mount_point)
    except BaseException:
        with contextlib.suppress(OSError):
            for came_from, went_to, name in reversed(done):
                _move(went_to, came_from, name)
            os.rmdir(aside)  # stays if anything could not be put back
        raise
    # From here on it is whole, also if not all of the old can be removed: then the next restore clears it away.
    leftover = os.path.join(mount_point, f"{os.path.basename(place)}-before")
    os.rename(aside, leftover)
    sync_directory(mount_point)
    remove(leftover)
    remove(place)
    os.utime(mount_point, ns=(rights.st_atime_ns, rights.st_mtime_ns))  # last: all of this changes it


def refuse_unfinished_tree(path: str) -> None:
    """Raise SourceUnreadable if a restore was interrupted while entries of this directory changed places."""
    with contextlib.suppress(OSError), os.scandir(path) as entries:  # whoever reads it will say so
        if any(entry.name.startswith(_UNFINISHED) for entry in entries):
            raise SourceUnreadable(
                f"{path} holds a restore that was not finished and is not whole",
                hint=f"restore onto it again first; what was there before is in {_UNFINISHED}*",
            )


def _move(came_from: str, goes_to: str, name: str) -> None:
    os.rename(os.path.join(came_from, name), os.path.join(goes_to, name))


def _exists(directory: str, name: str) -> bool:
    return os.path.lexists(os.path.join(directory, name))


def _give_rights(rights: os.stat_result, place: str, mount_point: str) -> None:
    if os.geteuid() == 0:
        os.chown(mount_point, rights.st_uid, rights.st_gid)
    wanted = os.listxattr(place)
    for name in {*wanted, *os.listxattr(mount_point)}:
        with contextlib.suppress(OSError):  # some belong to the file system
            if name in wanted:
                os.setxattr(mount_point, name, os.getxattr(place, name))
            else:
                os.removexattr(mount_point, name)
    os.chmod(mount_point, stat.S_IMODE(rights.st_mode))

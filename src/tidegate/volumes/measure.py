"""How large a volume is, without reading it."""

import contextlib
import os
import stat
from typing import assert_never

from tidegate.errors import SourceUnreadable
from tidegate.format.trees.entry import LONGEST_PATH, ROOT_PATH
from tidegate.model.volumes.volume_ref import Claim, Device, Directory, Image, VolumeRef
from tidegate.volumes.images.image import image_size, open_image
from tidegate.volumes.trees.beneath import DIRECTORY, Beneath
from tidegate.volumes.trees.directory import open_tree

# As a backup counts: two sparse files may have more.
_MOST_COUNTED = 2**63 - 1


def measure(volume: VolumeRef) -> int:
    """Bytes that the volume has now: of all files for a directory. Raises SourceUnreadable with a sentence."""
    match volume:
        case Directory(path):
            return _tree_bytes(path)
        case Image() | Device():
            return _image_bytes(volume)
        case Claim():
            raise SourceUnreadable(volume.not_here)
        case _:
            assert_never(volume)


def _image_bytes(volume: Image | Device) -> int:
    handle = open_image(volume)
    try:
        return image_size(handle, volume.path)
    finally:
        os.close(handle)


def _tree_bytes(path: str) -> int:
    """Counts each hard-linked file once and what may not be read not at all, as a backup would."""
    root = open_tree(path)
    beneath, seen, waiting, total = Beneath(root), set[tuple[int, int]](), [ROOT_PATH], 0
    try:
        while waiting:
            at = waiting.pop()
            before = "" if at == ROOT_PATH else f"{at}/"
            with contextlib.suppress(OSError):
                found, inner = _level(beneath, at, seen)
                total += found
                waiting += [path for name in inner if len(path := before + name) <= LONGEST_PATH]
    finally:
        beneath.close()
        os.close(root)
    return min(total, _MOST_COUNTED)


def _level(beneath: Beneath, path: str, seen: set[tuple[int, int]]) -> tuple[int, list[str]]:
    """Bytes of the files right in this directory, and the directories there."""
    handle = beneath.open(path, DIRECTORY)
    try:
        with os.scandir(handle) as entries:
            is_inner = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        found = sum(_file_bytes(name, handle, seen) for name, inner in is_inner.items() if not inner)
        return found, [name for name, inner in is_inner.items() if inner]
    finally:
        os.close(handle)


def _file_bytes(name: str, directory: int, seen: set[tuple[int, int]]) -> int:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return 0
    identity = (found.st_dev, found.st_ino)
    if not stat.S_ISREG(found.st_mode) or identity in seen:
        return 0
    if found.st_nlink > 1:
        seen.add(identity)
    return found.st_size

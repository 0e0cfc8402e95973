"""How large a volume is, without reading it."""

import os
import stat

from tidegate.errors import SourceUnreadable
from tidegate.model.volume import VolumeSpec
from tidegate.model.volume_kind import VolumeKind
from tidegate.volumes.directory import open_tree
from tidegate.volumes.image import image_size, open_image


def measure(spec: VolumeSpec) -> int:
    """Bytes that the volume has now: of all files for a directory. Raises SourceUnreadable with a sentence."""
    if spec.source_kind is VolumeKind.DIRECTORY:
        return _tree_bytes(spec.path)
    handle = open_image(spec.path, spec.source_kind)
    try:
        return image_size(handle, spec.path)
    finally:
        os.close(handle)


def _tree_bytes(path: str) -> int:
    """Counts each hard-linked file once and what may not be read not at all, as a backup would."""
    root = open_tree(path)
    seen: set[tuple[int, int]] = set()
    total = 0
    try:
        for _, _, names, directory in os.fwalk(dir_fd=root):
            for name in names:
                total += _file_bytes(name, directory, seen)
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be walked: {error.strerror}") from error
    finally:
        os.close(root)
    return total


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

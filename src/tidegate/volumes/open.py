"""From a volume's description to its source, its sink and its size."""

import os
import stat
from collections.abc import Callable
from datetime import datetime

from tidegate.errors import DestinationUnusable, InvalidInput, SourceUnreadable
from tidegate.model.mover_job import DownloadJob, UploadJob
from tidegate.model.volume import VolumeKind, VolumeSpec
from tidegate.ports.volume_data import BackupContent, VolumeSink, VolumeSource
from tidegate.volumes.device_sink import DeviceSink
from tidegate.volumes.directory import DirectorySource, open_tree
from tidegate.volumes.image import ImageSource, image_size, open_image
from tidegate.volumes.image_sink import ImageSink
from tidegate.volumes.tree_sink import DirectorySink


def open_source(
    job: UploadJob,
    *,
    block_size: int,
    base: BackupContent | None,
    settled_before: datetime,
    still_wanted: Callable[[], None],
) -> VolumeSource:
    """The volume, to be entered before it is read. Raises SourceUnreadable with a sentence. See OpenSource."""
    if job.volume_kind is VolumeKind.DIRECTORY:
        return DirectorySource(
            job.path,
            block_size=block_size,
            settled_before=settled_before,
            still_wanted=still_wanted,
            excludes=job.excludes,
            base=base,
        )
    if job.excludes:
        raise InvalidInput("only of a file tree something can be excluded; an image is backed up as a whole")
    return ImageSource(job.path, job.volume_kind)


def open_sink(job: DownloadJob) -> VolumeSink:
    """Where the volume is restored to. Raises DestinationUnusable with a sentence; nothing is written yet."""
    if job.volume_kind is VolumeKind.DIRECTORY:
        return DirectorySink(job)
    if job.includes:
        raise DestinationUnusable("only a file tree can be restored in part; an image comes back as a whole")
    return DeviceSink(job) if job.volume_kind is VolumeKind.DEVICE else ImageSink(job)


def measure(spec: VolumeSpec) -> int:
    """Bytes that the volume has now: of all files for a directory. Raises SourceUnreadable with a sentence."""
    if spec.source_kind is VolumeKind.DIRECTORY:
        return _tree_bytes(spec.path)
    handle = open_image(spec.path, spec.source_kind)
    size = image_size(handle, spec.path)
    os.close(handle)
    return size


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

"""From a job to the volume that it reads or writes. Each kind is loaded when it is asked for: a mover has one job."""

from collections.abc import Callable
from datetime import datetime
from typing import assert_never

from tidegate.errors import DestinationUnusable, InvalidInput, SourceUnreadable
from tidegate.model.transfers.mover_job import DownloadJob, UploadJob
from tidegate.model.volumes.volume_ref import Claim, Device, Directory, Image
from tidegate.ports.volume_data import BackupContent, VolumeSink, VolumeSource


def open_source(
    job: UploadJob,
    *,
    block_size: int,
    base: BackupContent | None,
    settled_before: datetime,
    still_wanted: Callable[[], None],
) -> VolumeSource:
    """The volume, to be entered before it is read. Raises SourceUnreadable with a sentence. See OpenSource."""
    match job.ref:
        case Directory(path):
            from tidegate.volumes.trees.directory import DirectorySource

            return DirectorySource(
                path,
                block_size=block_size,
                settled_before=settled_before,
                still_wanted=still_wanted,
                excludes=job.excludes,
                base=base,
            )
        case Image() | Device() as volume:
            if job.excludes:
                raise InvalidInput("only of a file tree something can be excluded; an image is backed up as a whole")
            from tidegate.volumes.images.image import ImageSource

            return ImageSource(volume, wish=job.snapshot)
        case Claim() as claim:
            raise SourceUnreadable(claim.not_here)
        case other:
            assert_never(other)


def open_sink(job: DownloadJob) -> VolumeSink:
    """Where the volume is restored to. Raises DestinationUnusable with a sentence; nothing is written yet."""
    if job.includes and not job.volume_kind.is_tree:
        raise DestinationUnusable("only a file tree can be restored in part; an image comes back as a whole")
    match job.ref:
        case Directory():
            from tidegate.volumes.trees.sink import DirectorySink

            return DirectorySink(job)
        case Device():
            from tidegate.volumes.images.device_sink import DeviceSink

            return DeviceSink(job)
        case Image():
            from tidegate.volumes.images.sink import ImageSink

            return ImageSink(job)
        case Claim() as claim:
            raise DestinationUnusable(claim.not_here)
        case other:
            assert_never(other)

"""Restoring to an image file: written beside it, sparse, then renamed into place."""

import contextlib
import os
import stat
from collections.abc import Callable, Sequence

from tidegate.disk.in_use import user_of_file
from tidegate.errors import DestinationUnusable
from tidegate.format.cfgs.image_rights import ImageRights
from tidegate.format.trees.packed_tree import CONTENT, TREE
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.transfers.mover_job import DownloadJob
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.images.device_sink import changed_warning
from tidegate.volumes.images.read_back import compare_image
from tidegate.volumes.images.writer import bring_up_to_date, copy_sparsely, fill
from tidegate.volumes.kept_places import refuse_kept
from tidegate.volumes.trees.attributes import plain_mode
from tidegate.volumes.workplace import make_file, refuse_if_used, sync_directory, workplace, writing_to


class ImageSink:
    """Keeps the VolumeSink's promise for an image file."""

    def __init__(self, job: DownloadJob) -> None:
        # A link to the image stays a link; what it leads to is replaced.
        self._path = os.path.realpath(job.path)
        self._job = job
        self._check_free()

    @property
    def chosen_bytes(self) -> None:
        """See VolumeSink: an image comes back as a whole."""

    def receive(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> Sequence[str]:
        """See VolumeSink."""
        if content.cfg_parameters.get(CONTENT) == TREE:
            raise DestinationUnusable("the backup holds a file tree; restore it to a directory, not to an image")
        refuse_kept(self._path, self._job.keep_out)  # again: what waited may be behind a new link by now
        with workplace(self._path, make=make_file) as place:
            with open(place, "r+b", buffering=0) as file:
                changed = self._build(file.fileno(), content, on_bytes)
                lost = self._give_rights(file.fileno(), ImageRights.from_parameters(content.cfg_parameters))
                os.fsync(file.fileno())
            self._check_free()
            os.rename(place, self._path)
            sync_directory(os.path.dirname(self._path))
        return [*changed_warning(self._path, changed), *lost]

    def read_back(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> None:
        """See VolumeSink."""
        compare_image(self._path, content, on_bytes=on_bytes)

    def _build(self, handle: int, content: BackupContent, on_bytes: Callable[[int], None]) -> int:
        if content.kept is None:
            os.ftruncate(handle, content.size)
            fill(handle, content, on_bytes, sparse=self._job.sparse)
            return 0
        with open(self._path, "rb", buffering=0) as earlier:
            copy_sparsely(earlier.fileno(), handle)
        os.ftruncate(handle, content.size)
        return bring_up_to_date(handle, content, on_bytes)

    def _check_free(self) -> None:
        refuse_kept(self._path, self._job.keep_out)
        with writing_to(self._path):
            try:
                found = os.stat(self._path)
            except FileNotFoundError:
                if self._job.onto:
                    raise DestinationUnusable(
                        f"{self._path} does not exist, so it does not hold backup {self._job.onto}"
                    ) from None
                return
        if not stat.S_ISREG(found.st_mode):
            raise DestinationUnusable(f"{self._path} exists and is not a regular file")
        if self._job.existing_data is not ExistingData.OVERWRITE and not self._job.onto:
            raise DestinationUnusable(
                f"{self._path} exists already",
                hint="use --existing-data overwrite (store restore: --overwrite), or another place",
            )
        if not self._job.force:
            refuse_if_used(self._path, user_of_file)

    def _give_rights(self, handle: int, recorded: ImageRights | None) -> Sequence[str]:
        """Those of the image that is replaced, else those that were backed up, else it is ours alone.

        Return a sentence for each that could not be given.
        """
        with contextlib.suppress(FileNotFoundError):
            before = os.stat(self._path)
            recorded = ImageRights(plain_mode(self._path, before), before.st_uid, before.st_gid)
        if recorded is None:
            return ()
        with contextlib.suppress(PermissionError):  # only root may give files away
            os.fchown(handle, recorded.user, recorded.group)
        os.fchmod(handle, recorded.mode)
        # Looked at, because the kernel drops a setgid bit of a group that is not ours, and reports success.
        found = os.fstat(handle)
        lost = []
        if (found.st_uid, found.st_gid) != (recorded.user, recorded.group):
            lost.append(
                f"{self._path}: its owner {recorded.user}:{recorded.group} could not be restored: only root can"
            )
        if stat.S_IMODE(found.st_mode) != recorded.mode:
            lost.append(
                f"{self._path}: its mode {recorded.mode:04o} could not be restored: the system dropped a part of it"
            )
        return lost

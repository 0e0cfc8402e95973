"""Restoring to a directory: unpacked beside it, then swapped in."""

import contextlib
import itertools
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence

from tidegate.disk.file_system import exchange, sync_file_system
from tidegate.disk.in_use import mounts_below, user_below
from tidegate.errors import DestinationUnusable, NotFound
from tidegate.format.trees.entry import EntryType, TreeEntry
from tidegate.format.trees.globs import TreeGlobs
from tidegate.format.trees.packed_reader import Entries, ImageBytes, read_manifest
from tidegate.format.trees.packed_tree import TreeMark, changed_files
from tidegate.format.trees.selection import selected_entries
from tidegate.format.trees.shown_path import shown_path
from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.transfers.mover_job import DownloadJob
from tidegate.ports.volume_data import BackupContent
from tidegate.volumes.kept_places import refuse_kept
from tidegate.volumes.trees.mounted_tree import entries_at, swap_content
from tidegate.volumes.trees.read_back import compare_tree
from tidegate.volumes.trees.unpacking import unpack
from tidegate.volumes.trees.writer import TreeWriter
from tidegate.volumes.workplace import (
    make_directory,
    refuse_if_used,
    remove,
    sync_directory,
    workplace,
    writing_to,
)
from tidegate.volumes.writing_out import WritingOut

_LARGE_MANIFEST = 256 * 1024


class DirectorySink:
    """Keeps the VolumeSink's promise for a directory. An empty one counts as free."""

    def __init__(self, job: DownloadJob) -> None:
        if job.onto:
            raise DestinationUnusable("a file tree cannot be restored onto an earlier one; restore it as a whole")
        # A link to the directory stays a link; what it leads to is replaced.
        self._path = os.path.realpath(job.path)
        self._existing_data = job.existing_data
        self._force = job.force
        self._keep_out = job.keep_out
        self._globs = TreeGlobs(job.includes) if job.includes else None
        self._chosen_bytes = 0
        self._check_free()

    @property
    def chosen_bytes(self) -> int | None:
        """See VolumeSink."""
        return None if self._globs is None else self._chosen_bytes

    def receive(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> Sequence[str]:
        """See VolumeSink."""
        mark = TreeMark.of(content.cfg_parameters, image_size=content.size)
        if mark is None:
            raise DestinationUnusable("the backup holds an image, not a file tree; restore it to an image file")
        warnings = [
            f"{shown_path(path)}: changed while it was backed up; it may mix old and new content, or have zeros in it"
            for path in changed_files(content.cfg_parameters)
        ]
        refuse_kept(self._path, self._keep_out)  # again: what waited may be behind a new link by now
        with workplace(self._path, make=make_directory, inside=self._is_mounted()) as place:
            with (
                contextlib.closing(TreeWriter(place, block_size=content.block_size)) as writer,
                tempfile.TemporaryFile() as spool,
                WritingOut(place),
            ):
                entries = read_manifest(ImageBytes(content, on_bytes=on_bytes), mark, spool)
                makers = content.makers if _is_large(mark) else 0
                unpack(self._counted(self._wanted(entries)), content, writer, on_bytes=on_bytes, makers=makers)
            self._swap_in(place)
        return [*warnings, *writer.warnings]

    def read_back(self, content: BackupContent, *, on_bytes: Callable[[int], None]) -> None:
        """See VolumeSink."""
        mark = TreeMark.of(content.cfg_parameters, image_size=content.size)
        assert mark is not None  # noqa: S101  # or `receive` would have refused it
        with tempfile.TemporaryFile() as spool:
            entries = read_manifest(ImageBytes(content, on_bytes=on_bytes), mark, spool)
            compare_tree(self._path, self._wanted(entries), content, on_bytes=on_bytes)

    def _counted(self, entries: Iterator[TreeEntry]) -> Iterator[TreeEntry]:
        for entry in entries:
            # The names of one file count once, as they do when a tree is measured.
            self._chosen_bytes += entry.size if entry.type is EntryType.FILE else 0
            yield entry

    def _wanted(self, entries: Entries) -> Iterator[TreeEntry]:
        if self._globs is None:
            return entries()
        wanted = selected_entries(entries, self._globs)
        root, first = next(wanted), next(wanted, None)
        if first is None:
            raise NotFound(
                "nothing in the backup matches what should be restored",
                hint="look with: tidegate backup browse, or store ls",
            )
        return itertools.chain([root, first], wanted)

    def _check_free(self, *, ours: str = "") -> None:
        refuse_kept(self._path, self._keep_out)
        with writing_to(self._path):
            try:
                found = os.stat(self._path)
            except FileNotFoundError:
                return
            if not stat.S_ISDIR(found.st_mode):
                raise DestinationUnusable(f"{self._path} exists and is not a directory")
            mounted = self._is_mounted()
            if mounted and not self._force:
                raise DestinationUnusable(
                    f"{self._path} is a mount point: what is mounted there can be replaced only entry by entry",
                    hint="restore to a directory below it; or force it, and whoever uses it meanwhile sees a mixture",
                )
            there = entries_at(self._path) if mounted else os.listdir(self._path)
            if not {*there} - {ours}:
                return
        if self._existing_data is not ExistingData.OVERWRITE:
            raise DestinationUnusable(
                f"{self._path} is not empty",
                hint="use --existing-data overwrite (store restore: --overwrite), or another place",
            )
        if deeper := mounts_below(self._path):
            # What is replaced is removed, and that would go on into whatever is mounted there. No force allows that.
            raise DestinationUnusable(
                f"{self._path} cannot be replaced: something is mounted at {deeper[0]}", hint="unmount it first"
            )
        if not self._force:
            refuse_if_used(self._path, user_below)

    def _is_mounted(self) -> bool:
        return os.path.ismount(self._path)

    def _swap_in(self, place: str) -> None:
        if os.path.dirname(place) == self._path:
            self._swap_in_mounted(place)
            return
        parent, name = os.path.split(self._path)
        handle = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            sync_file_system(handle)
            self._check_free()
            # Swapped in one step where that is possible, so that there is no instant without the directory. What was
            # there before is then the workplace, and goes away with it.
            if not os.path.exists(self._path):
                os.rename(place, self._path)
            elif not exchange(os.path.basename(place), name, directory=handle):
                _replace(place, self._path)
        finally:
            os.close(handle)
        sync_directory(parent)

    def _swap_in_mounted(self, place: str) -> None:
        handle = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            sync_file_system(handle)
            self._check_free(ours=os.path.basename(place))
            swap_content(place, self._path)
            sync_file_system(handle)
        finally:
            os.close(handle)


def _is_large(mark: TreeMark) -> bool:
    """Whether processes that make files are worth what it takes to begin them: some thousand files, several cores."""
    return mark.manifest_length >= _LARGE_MANIFEST and len(os.sched_getaffinity(0)) > 1


def _replace(place: str, path: str) -> None:
    """In two steps, for file systems that cannot swap; back to the old one if the second step fails."""
    # Not the name of a workplace: if we are killed right here, this is the only copy, and nobody may clear it away.
    aside = os.path.join(os.path.dirname(path), f".before{os.path.basename(place)}")
    os.rename(path, aside)
    try:
        os.rename(place, path)
    except OSError:
        os.rename(aside, path)
        raise
    remove(aside)

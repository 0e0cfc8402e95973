"""What a restore reads: one answer for the API, which shows it, and for the controller, which restores it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tidegate.decide.restores.places import Placement, Volumes, placements
from tidegate.decide.volumes.selection import check_restorable, uploads_lost, uploads_to_restore
from tidegate.errors import Refused
from tidegate.model.backups.backup import Backup
from tidegate.model.restores.restore import FoundSource, Restore, RestoreSpec
from tidegate.model.transfers.transfer import Transfer, TransferSpec

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class RestoreSource:
    """The volumes of a backup that a restore wants, or the one volume backup that its URL names."""

    backup: str | None
    wanted: Sequence[TransferSpec]
    lost: Sequence[TransferSpec] = ()
    """What it wants of the backup too, and what has been deleted from the store since."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """Bytes by the name of the volume backup, as far as they are known."""
        return {one.store_backup: one.expected_size for one in self.wanted if one.expected_size is not None}

    def placed(
        self, spec: RestoreSpec, volumes: Volumes, *, broken: Mapping[str, str] | None = None
    ) -> list[Placement]:
        """Where each goes; `broken` names volume backups that are damaged."""
        return placements(spec, self.wanted, volumes, lost=self.lost, broken=broken)

    def noted_on(self, restore: Restore) -> Restore:
        """The restore that keeps to it, whatever comes later: what was shown is what is restored.

        The status is for the answer: its controller writes the same from the spec.
        """
        if restore.spec.backup_name:
            return restore.with_spec(found=None).with_status(backup_name=self.backup)
        source = self.wanted[0] if restore.spec.backup_url else None
        found = FoundSource(backup_name=self.backup, volume_backup=source)
        return restore.with_spec(found=found).with_status(backup_name=self.backup, source=source)


def source_in_backup(spec: RestoreSpec, backup: Backup, uploads: Iterable[Transfer]) -> RestoreSource:
    """What the restore reads of this backup and its uploads; raises Refused if nothing can be restored from it."""
    check_restorable(backup)
    uploads = list(uploads)
    wanted = [upload.as_source for upload in uploads_to_restore(spec, uploads)]
    return RestoreSource(backup.name, wanted, [upload.spec for upload in uploads_lost(spec, uploads)])


def source_in_store(volume_backup: TransferSpec | None) -> RestoreSource:
    """What a restore reads whose URL was found to name this; raises Refused if it was never looked up."""
    if volume_backup is None:
        raise Refused("nobody has looked yet at what the backup URL names; ask for it with: tidegate restore")
    return RestoreSource(None, [volume_backup])

"""Which of a backup's volumes somebody wants to look into."""

from collections.abc import Sequence

from tidegate.errors import InvalidInput, NotFound, Refused
from tidegate.model.backups.backup import Backup
from tidegate.model.transfers.transfer import PodVolumeBackup, Transfer, TransferPhase

_MOST_NAMED = 5


def tree_to_browse(backup: Backup, uploads: Sequence[Transfer], volume: str) -> Transfer:
    """The upload that holds the tree of this volume; of a backup with one tree, that one.

    Raises InvalidInput if it has to be said which, NotFound if the backup has no such volume, and Refused if what it
    has of it is no tree, is not there yet, or is there no more.
    """
    if backup.deleting:
        raise Refused(f"backup {backup.name} is being deleted")
    trees = [one for one in uploads if isinstance(one, PodVolumeBackup)]
    if volume:
        found = [one for one in uploads if name_of(one) == volume]
        if not found:
            raise NotFound(f"backup {backup.name} has no volume {volume}", hint=_choices(uploads))
        # A backup that was queued again has uploads of every attempt.
        trees = [one for one in found if isinstance(one, PodVolumeBackup)]
        if not trees:
            raise Refused(
                f"{volume} is an image in backup {backup.name}, not a file tree", hint="restore it, and mount the image"
            )
    whole = [one for one in trees if one.status.phase is TransferPhase.COMPLETED and not one.data_removed]
    if not whole:
        raise Refused(_why_not(backup, trees, volume))
    if len({name_of(one) for one in whole}) > 1:
        raise InvalidInput(f"backup {backup.name} holds several file trees", field="volume", hint=_choices(whole))
    return max(whole, key=lambda one: one.metadata.name)


def name_of(upload: Transfer) -> str:
    """NAMESPACE/NAME of its volume."""
    return f"{upload.spec.volume_namespace}/{upload.spec.volume_name}"


def _choices(uploads: Sequence[Transfer]) -> str:
    names = sorted({name_of(one) for one in uploads})
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"it has {', '.join(names[:_MOST_NAMED])}{more}" if names else ""


def _why_not(backup: Backup, trees: Sequence[Transfer], volume: str) -> str:
    what = f"of {volume} " if volume else ""
    if not trees:
        return f"backup {backup.name} holds no file tree"
    if any(one.data_removed for one in trees):
        return f"what backup {backup.name} held {what}was deleted from the store"
    return f"backup {backup.name} holds nothing {what}yet: its upload is {trees[-1].status.phase}"

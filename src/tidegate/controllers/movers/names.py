"""What movers are called. A mover of a transfer has the transfer's uid as its name."""

from tidegate.model.resource import Ref
from tidegate.model.stores.deletion import Deletion

VOLUME = "BackupVolume"
REMOVALS = "delete/"


def volume_of(deletion: Deletion) -> Ref:
    """The volume in a store whose deletions are carried out together."""
    return Ref(VOLUME, deletion.spec.volume, deletion.spec.target)


def removal_of(volume: Ref) -> str:
    """The mover that carries out the deletions of a volume; at most one does."""
    return f"{REMOVALS}{volume.namespace}/{volume.name}"

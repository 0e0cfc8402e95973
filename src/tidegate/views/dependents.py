"""What would notice if a thing were deleted: the sentences that a person should read before saying yes."""

from collections.abc import Sequence

from tidegate.model.backups.backup import Backup
from tidegate.model.restores.restore import Restore
from tidegate.model.transfers.transfer import Transfer
from tidegate.model.volumes.volume import Volume
from tidegate.views.job import volume_of

# More names than this are a number: nobody reads the twentieth.
_NAMED = 5


def dependents_of_backup(name: str, restores: Sequence[Restore]) -> list[str]:
    """Restores that still read from it."""
    reading = [item.name for item in restores if item.source_backup == name and not item.status.phase.final]
    return [f"Restore {one} still reads from backup {name}." for one in _first(reading)] + _more(reading, "restores")


def dependents_of_target(name: str, backups: Sequence[Backup]) -> list[str]:
    """Backups that are kept in it."""
    kept = [backup.name for backup in backups if backup.spec.storage_location == name]
    return [f"Target {name} holds {_listed(kept, 'backup')}."] if kept else []


def dependents_of_namespace(name: str, volumes: Sequence[Volume]) -> list[str]:
    """Volumes that belong to it."""
    inside = [volume.name for volume in volumes if volume.namespace == name]
    return [f"Namespace {name} has {_listed(inside, 'volume')}."] if inside else []


def dependents_of_volume(name: str, transfers: Sequence[Transfer]) -> list[str]:
    """Transfers that move its data right now; `name` is `namespace/name`."""
    moving = [item.name for item in transfers if volume_of(item) == name and not item.status.phase.final]
    return [f"Transfer {one} still moves volume {name}." for one in _first(moving)] + _more(moving, "transfers")


def _first(names: list[str]) -> list[str]:
    return names[:_NAMED]


def _more(names: list[str], word: str) -> list[str]:
    return [f"{len(names) - _NAMED} more {word} do too."] if len(names) > _NAMED else []


def _listed(names: list[str], word: str) -> str:
    rest = ", ..." if len(names) > _NAMED else ""
    return f"{len(names)} {word}{'s'[: len(names) > 1]} ({', '.join(_first(names))}{rest})"

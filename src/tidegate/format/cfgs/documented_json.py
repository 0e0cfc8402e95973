"""The JSON of `backup ls` and `inspect` as Longhorn's design documents it: names when listing, facts when reading.

Longhorn's program prints more today: every field that it knows, empty ones included, also in a listing that read none
of them. That form is what `datapath.listing` makes; this one is taken out of it, so that the two cannot disagree.
"""

from collections.abc import Mapping

from tidegate.format.cfgs.backup_url import BackupUrl

Document = dict[str, object]

_OF_A_VOLUME = ("Name", "Size", "Labels", "Created", "LastBackupName", "LastBackupAt", "DataStored", "Messages")
_OF_A_BACKUP = (
    "Name",
    "URL",
    "SnapshotName",
    "SnapshotCreated",
    "Created",
    "Size",
    "Labels",
    "IsIncremental",
    "VolumeName",
    "VolumeSize",
    "VolumeCreated",
    "Messages",
)


def listed(found: Mapping[str, object], *, target: str) -> Document:
    """Each volume as `{}`, or with its backups by URL, each as `{}`. What is wrong with a volume is told."""
    return {name: _listed_volume(name, entry, target) for name, entry in found.items()}


def _listed_volume(name: str, entry: object, target: str) -> Document:
    if not isinstance(entry, Mapping):
        return {}
    shown: Document = {}
    if entry.get("Backups"):
        base = target.partition("?")[0]
        shown["Backups"] = {BackupUrl(base, name, backup).encode(): {} for backup in entry["Backups"]}
    if entry.get("Messages"):
        shown["Messages"] = entry["Messages"]
    return shown


def inspected_volume(document: Document) -> Document:
    """The facts of one volume."""
    return _facts(document, _OF_A_VOLUME)


def inspected_backup(document: Document) -> Document:
    """The facts of one backup, and of its volume."""
    return _facts(document, _OF_A_BACKUP)


def _facts(document: Document, names: tuple[str, ...]) -> Document:
    # A map that was never set is null to the engine and an empty map to the reader of the design.
    return {name: {} if name == "Labels" and document[name] is None else document[name] for name in names}

"""What a store holds, in the shape in which Longhorn's `backup ls`, `inspect-volume`, `inspect` and `head` tell it.

Longhorn's manager parses these documents and looks for the words "cannot find" and "in progress" in errors, so names,
order, zero values and words are kept as they are there, also where they look odd.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import NotFound, Refused
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE, LARGEST_BACKUP_CFG, BackupCfg
from tidegate.format.cfgs.backup_url import BackupUrl
from tidegate.format.cfgs.go_json import decode_json, sorted_map
from tidegate.format.cfgs.paths import LOCKS_OF_IMAGES, VOLUMES, backup_cfg_key, volume_cfg_key, volume_name_of
from tidegate.format.cfgs.volume_cfg import LARGEST_VOLUME_CFG, VolumeCfg
from tidegate.ports.object_store import ObjectStore

Document = dict[str, object]
# A listing is as long as its round trips: a far store is asked many things at once.
_QUESTIONS_AT_ONCE = 16


def list_volumes(objects: ObjectStore, *, volume: str = "", with_backups: bool = True) -> Document:
    """`backup ls`: every volume, or one, each with the names of its backups or without."""
    with ThreadPoolExecutor(_QUESTIONS_AT_ONCE) as pool:
        names = [volume] if volume else all_volume_names(objects, pool)
        stored = [StoredVolume(objects, name) for name in names]
        return dict(zip(names, pool.map(lambda one: _entry(one, with_backups=with_backups), stored), strict=True))


def all_volume_names(objects: ObjectStore, pool: ThreadPoolExecutor) -> list[str]:
    """Sorted. Directories that are not named as they should be are passed over."""

    def below(prefixes: Iterable[str]) -> list[str]:
        return [prefix for listing in pool.map(objects.list_level, prefixes) for prefix in listing.prefixes]

    return sorted(name for prefix in below(below(below([VOLUMES]))) if (name := volume_name_of(prefix)))


def working_names(objects: ObjectStore) -> list[str]:
    """The same without the place of Longhorn's locks for backing images, which only looks like a volume."""
    with ThreadPoolExecutor(_QUESTIONS_AT_ONCE) as pool:
        return [name for name in all_volume_names(objects, pool) if name != LOCKS_OF_IMAGES]


def _entry(volume: StoredVolume, *, with_backups: bool) -> Document:
    messages: dict[str, str] = {}
    key = volume_cfg_key(volume.name)
    try:
        volume.objects.head(key)
    except NotFound:
        messages["error"] = f"cannot find {key} in backupstore"
    names = sorted(volume.backup_names()) if with_backups and not messages else []
    backups: Document = {name: dict(_NO_BACKUP) for name in names}
    entry = _volume_document(None, messages)
    if not backups:
        return entry
    # Longhorn puts them in the middle.
    head, tail = list(entry.items())[:8], list(entry.items())[8:]
    return {**dict(head), "Backups": backups, **dict(tail)}


_NO_BACKUP: Document = {
    "Name": "",
    "URL": "",
    "SnapshotName": "",
    "SnapshotCreated": "",
    "Created": "",
    "Size": "0",
    "Labels": None,
    "Parameters": None,
    "IsIncremental": False,
    "NewlyUploadedDataSize": "0",
    "ReUploadedDataSize": "0",
    "Messages": None,
}


def inspect_volume(volume: StoredVolume) -> Document:
    """`backup inspect-volume`. Raises NotFound ("cannot find") or DamagedMetadata."""
    cfg = volume.volume_cfg()
    body = volume.objects.get(volume_cfg_key(volume.name), at_most=LARGEST_VOLUME_CFG)
    return _volume_document(cfg, {}, labels=_map_or_null(body, "Labels"))


def _volume_document(cfg: VolumeCfg | None, messages: dict[str, str], labels: object = None) -> Document:
    return {
        "Name": cfg.name if cfg else "",
        "Size": str(cfg.size if cfg else 0),
        "Labels": labels,
        "Created": cfg.created_time if cfg else "",
        "LastBackupName": cfg.last_backup_name if cfg else "",
        "LastBackupAt": cfg.last_backup_at if cfg else "",
        # Always by 2 MiB, also for volumes with larger blocks: that is what Longhorn tells.
        "DataStored": str(cfg.block_count * DEFAULT_BLOCK_SIZE if cfg else 0),
        "Messages": messages,
        "BackingImageName": cfg.backing_image_name if cfg else "",
        "BackingImageChecksum": cfg.backing_image_checksum if cfg else "",
        "StorageClassname": cfg.storage_class_name if cfg else "",
        "DataEngine": cfg.data_engine if cfg else "",
    }


def inspect_backup(volume: StoredVolume, backup: str, *, target: str) -> Document:
    """`backup inspect`. Raises NotFound ("cannot find"), Refused ("in progress") or DamagedMetadata."""
    volume_cfg, cfg = volume.volume_cfg(), volume.backup_cfg(backup)
    if cfg.in_progress:
        raise Refused(f"backup {backup} is still in progress", hint="or its writer died; see: tidegate store verify")
    body = volume.objects.get(backup_cfg_key(volume.name, backup), at_most=LARGEST_BACKUP_CFG)
    return {
        "Name": cfg.name,
        "URL": BackupUrl(target.partition("?")[0], volume.name, backup).encode(),
        "SnapshotName": cfg.snapshot_name,
        "SnapshotCreated": cfg.snapshot_created_at,
        "Created": cfg.created_time,
        "Size": str(_stored_size(cfg)),
        "Labels": _map_or_null(body, "Labels"),
        "Parameters": _map_or_null(body, "Parameters"),
        "IsIncremental": cfg.is_incremental,
        "CompressionMethod": str(cfg.compression),
        "NewlyUploadedDataSize": str(cfg.newly_uploaded_size),
        "ReUploadedDataSize": str(cfg.re_uploaded_size),
        "VolumeName": volume_cfg.name,
        "VolumeSize": str(volume_cfg.size),
        "VolumeCreated": volume_cfg.created_time,
        **({"VolumeBackingImageName": volume_cfg.backing_image_name} if volume_cfg.backing_image_name else {}),
        "Messages": None,
    }


def head(volume: StoredVolume, backup: str = "") -> Document:
    """`backup head`: when the cfg of the volume or of a backup was written, by the store's clock."""
    key = backup_cfg_key(volume.name, backup) if backup else volume_cfg_key(volume.name)
    try:
        moment = volume.objects.head(key).modified_at
    except NotFound as error:
        raise NotFound(f"cannot find {key} in backupstore") from error
    text = moment.strftime("%Y-%m-%dT%H:%M:%S.%f").rstrip("0").rstrip(".")
    return {"ModificationTime": f"{text}Z"}


def _stored_size(cfg: BackupCfg) -> int:
    return len(cfg.blocks) * cfg.block_size


def _map_or_null(body: bytes, name: str) -> dict[str, str] | None:
    """The model takes null for an empty map; whoever compares documents does not."""
    fields = decode_json(body, what=name)
    return sorted_map(fields.text_map(name)) if fields.has(name) else None

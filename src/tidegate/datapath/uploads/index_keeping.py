"""Writing a volume's index as the very last step of a backup or a removal, so that a sync need not read every cfg.

Nothing depends on it: a failure is a warning, two writers at once leave an index that lacks something, and what it says
of a cfg counts only while the store lists that cfg as it was then.
"""

from tidegate.datapath.crew import work_through
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedMetadata, NotFound, TidegateError
from tidegate.format.cfgs.backup_cfg import BackupCfg
from tidegate.format.cfgs.cfg_metadata import HEAD, cfg_metadata, whole_metadata
from tidegate.format.cfgs.object_mark import object_mark
from tidegate.format.cfgs.paths import backup_cfg_key, backup_name_of, backups_dir
from tidegate.format.cfgs.volume_index import (
    INDEX_NAME,
    INDEX_WORTH,
    LARGEST_INDEX,
    IndexEntry,
    decode_index,
    encode_index,
    index_entry,
    index_key,
    proven,
)
from tidegate.ports.clock import Clock
from tidegate.ports.object_store import ObjectInfo

# Others wrote them, Longhorn for example: some are added each time, so that no backup takes long for them.
_MOST_ADDED = 32


def keep_index(volume: StoredVolume, clock: Clock, *, written: BackupCfg | None = None) -> list[str]:
    """Write the index anew; `written` is the cfg that was just stored. What goes wrong is a warning, never raised."""
    try:
        _keep(volume, clock, written)
    except TidegateError as error:
        return [f"the index of volume {volume.name} was not written, so its next sync takes longer: {error.message}"]
    return []


def _keep(volume: StoredVolume, clock: Clock, written: BackupCfg | None) -> None:
    listing = volume.objects.list_level(backups_dir(volume.name))
    infos = {name: info for info in listing.objects if (name := backup_name_of(info.key))}
    there = any(info.key.endswith(f"/{INDEX_NAME}") for info in listing.objects)
    if len(infos) < INDEX_WORTH:
        if there:
            volume.objects.delete(index_key(volume.name))
        return
    marks = {name: _mark(info) for name, info in infos.items()}
    before = _read(volume) if there else {}
    entries = proven(before, marks)
    if written is not None and written.name in marks:
        metadata = cfg_metadata(written, name=written.name, now=clock.now())
        if entry := index_entry(metadata, marks[written.name]):
            entries[written.name] = entry
    work_through(
        _missing(infos, entries),
        lambda name: _add(volume, clock, infos[name], name, entries),
        threads=volume.objects.requests_in_flight,
    )
    if entries != before:
        volume.objects.put(index_key(volume.name), encode_index(volume.name, entries))


def _mark(info: ObjectInfo) -> int:
    return object_mark(size=info.size, etag=info.etag, modified_at=info.modified_at)


def _read(volume: StoredVolume) -> dict[str, IndexEntry]:
    try:
        body = volume.objects.get(index_key(volume.name), at_most=LARGEST_INDEX)
        return decode_index(body, volume=volume.name)
    except (NotFound, DamagedMetadata):
        return {}


def _missing(infos: dict[str, ObjectInfo], entries: dict[str, IndexEntry]) -> list[str]:
    """The newest first: those are asked for most. Cfgs with long maps are left to the sync, which reads their heads."""
    small = [info for name, info in infos.items() if name not in entries and 0 < info.size <= HEAD]
    newest = sorted(small, key=lambda info: info.modified_at, reverse=True)
    return [name for info in newest[:_MOST_ADDED] if (name := backup_name_of(info.key))]


def _add(volume: StoredVolume, clock: Clock, info: ObjectInfo, name: str, entries: dict[str, IndexEntry]) -> None:
    try:
        body = volume.objects.get(backup_cfg_key(volume.name, name), at_most=HEAD)
        entry = index_entry(whole_metadata(body, name=name, now=clock.now()), _mark(info))
        if entry and len(body) == info.size:  # else it is no longer the one that was listed
            entries[name] = entry
    except (NotFound, DamagedMetadata):
        return  # a sync will say so

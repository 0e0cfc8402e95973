"""Which backup of a volume is its last one, when several are made at once."""

import contextlib
from datetime import timedelta

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedMetadata, NotFound
from tidegate.format.cfgs.backup_cfg import BackupCfg
from tidegate.format.cfgs.times import parse_time
from tidegate.format.cfgs.volume_cfg import VolumeCfg

# Much longer than a client can be between finishing its backup and pointing to it without losing its lock.
_RIVALS_WITHIN = timedelta(hours=1)


def is_news(cfg: BackupCfg, volume_cfg: VolumeCfg) -> bool:
    """Whether the volume should point to this backup now: it is another one, and not older."""
    if volume_cfg.last_backup_name == cfg.name:
        return False
    then, now = parse_time(volume_cfg.last_backup_at), parse_time(cfg.snapshot_created_at)
    return not volume_cfg.last_backup_name or then is None or now is None or now >= then


def later_rival(volume: StoredVolume, backup: str, volume_cfg: VolumeCfg) -> BackupCfg | None:
    """The latest backup that was finished about when `backup` was, if it is later than the one that is pointed to."""
    latest, latest_at = None, parse_time(volume_cfg.last_backup_at)
    for name in volume.backups_finished_about(backup, within=_RIVALS_WITHIN):
        with contextlib.suppress(NotFound, DamagedMetadata):
            cfg = volume.backup_cfg(name)
            taken_at = None if cfg.in_progress else parse_time(cfg.snapshot_created_at)
            # Not if it was taken at the same time: two that give way to each other would never end.
            if taken_at is not None and latest_at is not None and taken_at > latest_at:
                latest, latest_at = cfg, taken_at
    return latest

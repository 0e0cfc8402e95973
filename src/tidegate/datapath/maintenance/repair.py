"""Writing a volume's record anew from its backups, when it is lost, damaged or wrong; Longhorn cannot do that."""

from dataclasses import dataclass, replace

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedMetadata, NotFound, Refused
from tidegate.format.cfgs.backup_cfg import BackupCfg
from tidegate.format.cfgs.times import parse_time
from tidegate.format.cfgs.volume_cfg import VolumeCfg
from tidegate.format.trees.packed_tree import align_up


@dataclass(frozen=True)
class Repair:
    """What the record is and what it should be."""

    before: VolumeCfg | None
    after: VolumeCfg
    why: tuple[str, ...]
    """A sentence for everything that is wrong; none if nothing is."""


def plan_repair(volume: StoredVolume, *, size: int | None = None) -> Repair:
    """What to write. Raises Refused when the backups leave something in doubt, NotFound if there is nothing.

    `size` is for volumes whose backups do not tell it: those that Longhorn wrote.
    """
    before, why = _record(volume)
    survey = _survey(volume, last_known=before.last_backup_name if before else "")
    newest = survey.newest
    if newest is None:
        raise _nothing(volume, before)
    after = VolumeCfg(
        name=volume.name,
        size=_size(volume, survey, before, size),
        labels=newest.labels,
        created_time=before.created_time if before else survey.first_created,
        last_backup_name=newest.name,
        last_backup_at=newest.snapshot_created_at,
        block_count=survey.present,
        compression=newest.compression,
    )
    if before is not None:
        # What backups do not tell stays as it was.
        after = replace(
            after,
            labels=before.labels if before.last_backup_name == newest.name else newest.labels,
            backing_image_name=before.backing_image_name,
            backing_image_checksum=before.backing_image_checksum,
            storage_class_name=before.storage_class_name,
            data_engine=before.data_engine,
        )
        why += _differences(before, after)
    return Repair(before, after, tuple(why))


@dataclass
class _Survey:
    newest: BackupCfg | None = None
    first_created: str = ""
    present: int = 0
    least_size: int = 0
    """Below this some backup would have blocks behind the end."""
    told_by_all: bool = True


def _record(volume: StoredVolume) -> tuple[VolumeCfg | None, list[str]]:
    try:
        cfg = volume.volume_cfg()
    except NotFound:
        return None, ["volume.cfg is missing"]
    except DamagedMetadata as error:
        return None, [error.message]
    return cfg, [] if cfg.name == volume.name else [f"Name is {cfg.name[:80]!r}"]


def _survey(volume: StoredVolume, *, last_known: str) -> _Survey:
    survey, needed = _Survey(), set[str]()
    for name in sorted(volume.backup_names()):
        try:
            cfg = volume.backup_cfg(name)
        except DamagedMetadata as error:
            raise Refused(
                f"{error.message}: it may be the newest backup, so the record cannot be written without it",
                hint=f"delete that backup first if it is not needed: tidegate store delete '...backup={name}...'",
            ) from error
        if cfg.in_progress:
            continue
        needed.update(ref.checksum for ref in cfg.blocks)
        end = cfg.blocks[-1].offset + cfg.block_size if cfg.blocks else 0
        survey.least_size = max(survey.least_size, end, align_up(cfg.true_size or 0, cfg.block_size))
        survey.told_by_all = survey.told_by_all and cfg.true_size is not None
        survey.first_created = min(survey.first_created or cfg.created_time, cfg.created_time)
        if survey.newest is None or _rank(cfg, last_known) > _rank(survey.newest, last_known):
            survey.newest = replace(cfg, blocks=())
    survey.present = sum(1 for name, _ in volume.block_sizes() if name in needed)
    return survey


def _rank(cfg: BackupCfg, last_known: str) -> tuple[float, bool, str, str]:
    """The newest is the largest. Of two in the same second, the one that the record knows to be the last."""
    moment = parse_time(cfg.snapshot_created_at)
    return (moment.timestamp() if moment else 0.0, cfg.name == last_known, cfg.created_time, cfg.name)


def _size(volume: StoredVolume, survey: _Survey, before: VolumeCfg | None, given: int | None) -> int:
    if given is not None:
        if given < survey.least_size:
            raise Refused(f"volume {volume.name} has at least {survey.least_size} bytes, not {given}")
        return given
    if before is not None:
        return max(before.size, survey.least_size)
    if not survey.told_by_all:
        raise Refused(
            f"nobody tells the size of volume {volume.name}: Longhorn writes it only into the record that is lost",
            hint=f"give it with --size, in bytes; it was at least {survey.least_size}",
        )
    return survey.least_size


def _nothing(volume: StoredVolume, before: VolumeCfg | None) -> NotFound | Refused:
    if before is None and not volume.backup_names():
        return NotFound(f"cannot find volume {volume.name} in the store")
    return Refused(f"volume {volume.name} has no finished backup to make a record from")


def _differences(before: VolumeCfg, after: VolumeCfg) -> list[str]:
    pairs = {
        "Size": (before.size, after.size),
        "LastBackupName": (before.last_backup_name, after.last_backup_name),
        "LastBackupAt": (before.last_backup_at, after.last_backup_at),
        "BlockCount": (before.block_count, after.block_count),
        "CompressionMethod": (before.compression, after.compression),
    }
    return [f"{name} is {old!s}, should be {new!s}" for name, (old, new) in pairs.items() if old != new]

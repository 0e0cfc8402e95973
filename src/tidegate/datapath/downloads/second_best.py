"""After a block turned out to be lost: which other backup still has something whole at that place."""

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedBlock, DamagedMetadata, MissingBlock, NotFound
from tidegate.format.cfgs.backup_cfg import BackupCfg, BlockRef


def advice_for(volume: StoredVolume, lost: BlockRef, backup: str) -> str:
    """A sentence that names the newest other backup with a whole block there, or says that there is none.

    Costs a look at every cfg of the volume: only for when a restore has failed anyway.
    """
    tried = {lost.checksum}
    for _, name in sorted(_candidates(volume, lost, backup), reverse=True):
        cfg = volume.backup_cfg(name)
        ref = _block_at(cfg, lost.offset)
        if ref is None or ref.checksum in tried:
            continue
        tried.add(ref.checksum)
        try:
            volume.read_block(ref, cfg)
        except (DamagedBlock, MissingBlock):
            continue
        return f"the newest other backup with a whole block there is {name}, taken {cfg.snapshot_created_at}"
    return "no other backup of the volume has a whole block there"


def _candidates(volume: StoredVolume, lost: BlockRef, backup: str) -> list[tuple[str, str]]:
    """(when, name) of the backups that have another block at that place; one cfg is in memory at a time."""
    found = []
    for name in volume.backup_names() - {backup}:
        try:
            cfg = volume.backup_cfg(name)
        except (NotFound, DamagedMetadata):
            continue
        ref = _block_at(cfg, lost.offset)
        if not cfg.in_progress and ref is not None and ref.checksum != lost.checksum:
            found.append((cfg.snapshot_created_at, name))
    return found


def _block_at(cfg: BackupCfg, offset: int) -> BlockRef | None:
    return next((ref for ref in cfg.blocks if ref.offset == offset), None)

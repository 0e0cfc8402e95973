"""Many volumes with many backups, written as files: what a store looks like after years, made in a second."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tidegate.format.backup_cfg import DEFAULT_BLOCK_SIZE, BackupCfg, BlockRef, block_parameters
from tidegate.format.checksum import checksum
from tidegate.format.compression import Compression
from tidegate.format.paths import backup_cfg_key, block_key, volume_cfg_key
from tidegate.format.times import format_time
from tidegate.format.volume_cfg import VolumeCfg

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def volume_name(number: int) -> str:
    """Of the nth volume."""
    return f"pvc-{number:04}"


def backup_name(number: int) -> str:
    """Of the nth backup of any volume."""
    return f"backup-{number:016x}"


def write_volumes(root: Path, *, volumes: int, backups: int) -> None:
    """Each backup has one block of its own and one that it shares with all others of its volume."""
    for number in range(volumes):
        write_volume(root, volume_name(number), backups=backups)


def write_volume(root: Path, volume: str, *, backups: int) -> None:
    """One of them."""
    shared = _block(root, volume, "shared")
    at = format_time(_BEGIN)
    for number in range(backups):
        at = format_time(_BEGIN + timedelta(hours=number))
        own = _block(root, volume, backup_name(number))
        cfg = BackupCfg(
            name=backup_name(number),
            volume_name=volume,
            compression=Compression.LZ4,
            snapshot_name=f"snap-{number}",
            snapshot_created_at=at,
            created_time=at,
            labels={},
            parameters=block_parameters(block_size=DEFAULT_BLOCK_SIZE, true_size=2 * DEFAULT_BLOCK_SIZE),
            newly_uploaded_size=100,
            blocks=[BlockRef(0, shared), BlockRef(DEFAULT_BLOCK_SIZE, own)],
        )
        _write(root, backup_cfg_key(volume, cfg.name), cfg.encode())
    volume_cfg = VolumeCfg(
        name=volume,
        size=2 * DEFAULT_BLOCK_SIZE,
        labels={},
        created_time=format_time(_BEGIN),
        last_backup_name=backup_name(backups - 1),
        last_backup_at=at,
        block_count=backups + 1,
        compression=Compression.LZ4,
    )
    _write(root, volume_cfg_key(volume), volume_cfg.encode())


def _block(root: Path, volume: str, seed: str) -> str:
    name = checksum(seed.encode())
    _write(root, block_key(volume, name), b"not read by who only lists and deletes")
    return name


def _write(root: Path, key: str, body: bytes) -> None:
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)

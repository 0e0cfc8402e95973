"""Many volumes with many backups: what a store looks like after years, made in a second."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tidegate.format.blocks.checksum import checksum
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE, BackupCfg, BlockRef, block_parameters
from tidegate.format.cfgs.paths import backup_cfg_key, block_key, volume_cfg_key
from tidegate.format.cfgs.times import format_time
from tidegate.format.cfgs.volume_cfg import VolumeCfg

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_BLOCK = b"not read by who only lists and deletes"


def volume_name(number: int) -> str:
    """Of the nth volume."""
    return f"pvc-{number:04}"


def backup_name(number: int) -> str:
    """Of the nth backup of any volume."""
    return f"backup-{number:016x}"


def write_volumes(root: Path, *, volumes: int, backups: int) -> None:
    """All of them, into a directory that is, or will be, a store."""
    for number in range(volumes):
        write_volume(root, volume_name(number), backups=backups)


def write_volume(root: Path, volume: str, *, backups: int, blocks: bool = True) -> None:
    """One of them, or only its cfgs."""
    made: set[Path] = set()
    for key, body in volume_objects(volume, backups=backups, blocks=blocks):
        path = root / key
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        path.write_bytes(body)


def volume_objects(volume: str, *, backups: int, blocks: bool = True) -> Iterator[tuple[str, bytes]]:
    """Keys and bodies of one. Each backup has a block of its own and one that it shares with all others."""
    shared = checksum(b"shared")
    if blocks:
        yield block_key(volume, shared), _BLOCK
    times = [format_time(_BEGIN + timedelta(hours=number)) for number in range(backups)]
    for number, at in enumerate(times):
        own = checksum(backup_name(number).encode())
        if blocks:
            yield block_key(volume, own), _BLOCK
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
        yield backup_cfg_key(volume, cfg.name), cfg.encode()
    volume_cfg = VolumeCfg(
        name=volume,
        size=2 * DEFAULT_BLOCK_SIZE,
        labels={},
        created_time=format_time(_BEGIN),
        last_backup_name=backup_name(backups - 1),
        last_backup_at=times[-1],
        block_count=backups + 1,
        compression=Compression.LZ4,
    )
    yield volume_cfg_key(volume), volume_cfg.encode()

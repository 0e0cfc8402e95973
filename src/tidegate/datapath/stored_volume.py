"""What a store holds of one volume: its cfgs and blocks, as values instead of keys and bytes."""

from collections.abc import Iterator

from tidegate.errors import DamagedBlock, DamagedMetadata, MissingBlock, NotFound
from tidegate.format.backup_cfg import LARGEST_BACKUP_CFG, BackupCfg, BlockRef
from tidegate.format.checksum import checksum
from tidegate.format.compression import compress, decompress
from tidegate.format.paths import (
    VOLUMES,
    backup_cfg_key,
    backup_name_of,
    backups_dir,
    block_checksum_of,
    block_key,
    blocks_dir,
    volume_cfg_key,
    volume_dir,
    volume_name_of,
)
from tidegate.format.volume_cfg import LARGEST_VOLUME_CFG, VolumeCfg
from tidegate.ports.object_store import ObjectStore

# What a compressor may add to a block that it cannot make smaller.
_SLACK = 64 * 1024


def volume_names(objects: ObjectStore) -> Iterator[str]:
    """Every volume of the store. Directories that are not named as they should be are passed over."""
    for first in objects.list_level(VOLUMES).prefixes:
        for second in objects.list_level(first).prefixes:
            for prefix in objects.list_level(second).prefixes:
                if name := volume_name_of(prefix):
                    yield name


class StoredVolume:
    """One volume in one store. Every method raises what the ObjectStore raises, and never takes that for absence."""

    def __init__(self, objects: ObjectStore, name: str) -> None:
        volume_dir(name)  # refuses a name that cannot be one
        self.objects = objects
        self.name = name

    def volume_cfg(self) -> VolumeCfg:
        """Raises NotFound only if the store says so, DamagedMetadata if it cannot be understood."""
        try:
            body = self.objects.get(volume_cfg_key(self.name), at_most=LARGEST_VOLUME_CFG)
        except NotFound as error:
            raise NotFound(f"cannot find volume {self.name} in the store") from error
        return VolumeCfg.decode(body, what=f"volume.cfg of {self.name}")

    def create_volume_cfg(self, cfg: VolumeCfg) -> bool:
        """Write it unless there is one."""
        return self.objects.put_if_absent(volume_cfg_key(self.name), cfg.encode())

    def save_volume_cfg(self, cfg: VolumeCfg) -> None:
        """Replace it."""
        self.objects.put(volume_cfg_key(self.name), cfg.encode())

    def backup_names(self) -> frozenset[str]:
        """Every backup that has a cfg, finished or not."""
        listing = self.objects.list_level(backups_dir(self.name))
        return frozenset(name for info in listing.objects if (name := backup_name_of(info.key)))

    def backup_cfg(self, backup: str) -> BackupCfg:
        """Raises NotFound only if the store says so, DamagedMetadata if it cannot be understood."""
        try:
            body = self.objects.get(backup_cfg_key(self.name, backup), at_most=LARGEST_BACKUP_CFG)
        except NotFound as error:
            raise NotFound(f"cannot find backup {backup} of volume {self.name} in the store") from error
        return BackupCfg.decode(body, what=f"cfg of backup {backup} of volume {self.name}")

    def save_backup_cfg(self, cfg: BackupCfg) -> None:
        """Write or replace it. With a CreatedTime, this is what makes a backup."""
        self.objects.put(backup_cfg_key(self.name, cfg.name), cfg.encode())

    def delete_backup_cfg(self, backup: str) -> None:
        """After this the backup does not exist; its blocks still do."""
        self.objects.delete(backup_cfg_key(self.name, backup))

    def block_sizes(self) -> Iterator[tuple[str, int]]:
        """(checksum, stored bytes) of every block that the volume has."""
        for info in self.objects.list_all(blocks_dir(self.name)):
            if name := block_checksum_of(info.key):
                yield name, info.size

    def delete_block(self, block_checksum: str) -> None:
        """Only for blocks that no cfg names, and only under the volume's lock."""
        self.objects.delete(block_key(self.name, block_checksum))

    def put_block(self, block_checksum: str, block: bytes, cfg: BackupCfg) -> int:
        """Store the block if it is not there; returns the bytes that the store had to take. Durable after a flush."""
        body = compress(block, cfg.compression)
        return len(body) if self.objects.put_if_absent(block_key(self.name, block_checksum), body, lazily=True) else 0

    def repair_block(self, block_checksum: str, block: bytes, cfg: BackupCfg) -> int:
        """Store the block over whatever is there; returns the bytes that the store had to take. Durable as above."""
        body = compress(block, cfg.compression)
        self.objects.put(block_key(self.name, block_checksum), body, lazily=True)
        return len(body)

    def read_block(self, ref: BlockRef, cfg: BackupCfg) -> bytes:
        """The block, compared with its checksum. Raises DamagedBlock or MissingBlock, saying what is affected."""
        place = f"the block at {ref.offset} of backup {cfg.name} of volume {self.name}"
        try:
            body = self.objects.get(block_key(self.name, ref.checksum), at_most=cfg.block_size * 2 + _SLACK)
            block = decompress(body, cfg.compression, at_most=cfg.block_size)
        except NotFound as error:
            raise MissingBlock(f"{place} is missing in the store ({ref.checksum})") from error
        except (DamagedBlock, DamagedMetadata) as error:
            raise DamagedBlock(f"{place} is damaged ({ref.checksum}): {error}") from error
        if len(block) != cfg.block_size or checksum(block) != ref.checksum:
            raise DamagedBlock(f"{place} is damaged: its content does not match its checksum {ref.checksum}")
        return block

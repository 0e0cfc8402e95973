"""What a store holds of one volume: its cfgs and blocks, as values instead of keys and bytes."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from tidegate.errors import DamagedBlock, DamagedMetadata, MissingBlock, NotFound, StoreLocked
from tidegate.format.blocks.block_codec import BlockCodec, PlainBlocks
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.blocks.sealed_blocks import SealedBlocks
from tidegate.format.cfgs.backup_cfg import LARGEST_BACKUP_CFG, BackupCfg, BlockRef
from tidegate.format.cfgs.paths import (
    VOLUMES,
    backup_cfg_key,
    backup_name_of,
    backups_dir,
    block_checksum_of,
    block_key,
    blocks_dir,
    lock_name_of,
    locks_dir,
    volume_cfg_key,
    volume_dir,
    volume_name_of,
)
from tidegate.format.cfgs.sealed_cfg import check_key, is_encrypted, open_cfg, opens, seal_cfg
from tidegate.format.cfgs.volume_cfg import LARGEST_VOLUME_CFG, VolumeCfg
from tidegate.ports.object_store import ObjectStore

# What a compressor and a seal may add to a block.
_SLACK = 64 * 1024


def volume_names(objects: ObjectStore) -> Iterator[str]:
    """Every volume of the store. Directories that are not named as they should be are passed over."""
    for first in objects.list_level(VOLUMES).prefixes:
        for second in objects.list_level(first).prefixes:
            for prefix in objects.list_level(second).prefixes:
                if name := volume_name_of(prefix):
                    yield name


class StoredVolume:
    """One volume in one store. Every method raises what the ObjectStore raises, and never takes that for absence.

    With a key, what is written is encrypted; what is read is plain or encrypted, as its cfg says.
    """

    def __init__(self, objects: ObjectStore, name: str, *, key: EncryptionKey | None = None) -> None:
        volume_dir(name)  # refuses a name that cannot be one
        self.objects = objects
        self.name = name
        self._key = key
        self._plain = PlainBlocks()
        self._sealed = SealedBlocks(key, volume=name) if key else None

    def volume_cfg(self) -> VolumeCfg:
        """Raises NotFound only if the store says so, DamagedMetadata if it cannot be understood."""
        try:
            body = self.objects.get(volume_cfg_key(self.name), at_most=LARGEST_VOLUME_CFG)
        except NotFound as error:
            raise NotFound(f"cannot find volume {self.name} in the store") from error
        return VolumeCfg.decode(body, what=f"volume.cfg of {self.name}")

    def is_there(self) -> bool:
        """Whether the store holds anything of it, were it only half removed. A lock alone is no volume."""
        try:
            self.volume_cfg()
        except NotFound:
            return bool(self.backup_names()) or any(True for _ in self.block_sizes())
        except DamagedMetadata:
            return True
        return True

    def check_there(self) -> None:
        """Raise NotFound unless it is."""
        if not self.is_there():
            raise NotFound(f"cannot find volume {self.name} in the store")

    def create_volume_cfg(self, cfg: VolumeCfg) -> bool:
        """Write it unless there is one."""
        return self.objects.put_if_absent(volume_cfg_key(self.name), cfg.encode())

    def save_volume_cfg(self, cfg: VolumeCfg) -> None:
        """Replace it."""
        self.objects.put(volume_cfg_key(self.name), cfg.encode())

    def backup_names(self) -> frozenset[str]:
        """Every backup that has a cfg, finished or not."""
        return frozenset(self.cfg_sizes())

    def cfg_sizes(self) -> dict[str, int]:
        """The same, with the bytes of each cfg."""
        listing = self.objects.list_level(backups_dir(self.name))
        return {name: info.size for info in listing.objects if (name := backup_name_of(info.key))}

    def backups_finished_about(self, backup: str, *, within: timedelta) -> frozenset[str]:
        """The other backups whose cfgs were written at about the same time as this one's, by the store's clock."""
        listing = self.objects.list_level(backups_dir(self.name))
        written = {name: info.modified_at for info in listing.objects if (name := backup_name_of(info.key))}
        mine = written.pop(backup, None)
        return frozenset(name for name, at in written.items() if mine is None or abs(at - mine) <= within)

    def lock_count(self) -> int:
        """How many clients work on the volume, ourselves included, or died while they did."""
        return sum(lock_name_of(info.key) is not None for info in self.objects.list_level(locks_dir(self.name)).objects)

    def backup_cfg(self, backup: str) -> BackupCfg:
        """Raises NotFound only if the store says so, DamagedMetadata if it cannot be understood."""
        try:
            body = self.objects.get(backup_cfg_key(self.name, backup), at_most=LARGEST_BACKUP_CFG)
        except NotFound as error:
            raise NotFound(f"cannot find backup {backup} of volume {self.name} in the store") from error
        what = f"cfg of backup {backup} of volume {self.name}"
        cfg = BackupCfg.decode(body, what=what)
        if is_encrypted(cfg) and (cfg.name, cfg.volume_name) != (backup, self.name):
            raise DamagedMetadata(f"{what} is that of backup {cfg.name[:80]!r} of volume {cfg.volume_name[:80]!r}")
        return open_cfg(cfg, self._key, what=what) if self._key and opens(cfg, self._key) else cfg

    def save_backup_cfg(self, cfg: BackupCfg) -> BackupCfg:
        """Write or replace it; returns it as it is stored. With a CreatedTime, this is what makes a backup.

        One that is in progress never replaces one that is finished: a client that was frozen may wake up when somebody
        else has long done its work. Raises StoreLocked then; asking again finds the backup.
        """
        if cfg.in_progress:
            self._begin(cfg)
            return cfg
        if self._key:
            cfg = seal_cfg(cfg, self._key)
        self.objects.put(backup_cfg_key(self.name, cfg.name), cfg.encode())
        return cfg

    def _begin(self, cfg: BackupCfg) -> None:
        if self.objects.put_if_absent(backup_cfg_key(self.name, cfg.name), cfg.encode()):
            return
        if not self.backup_cfg(cfg.name).in_progress:
            raise StoreLocked(f"another client has finished backup {cfg.name} of volume {self.name} in the meantime")

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

    @property
    def named_at_once(self) -> int:
        """How many blocks `block_names` should be given: so many cost little more than a few."""
        return self._writing.named_at_once

    def block_names(self, blocks: Sequence[bytes]) -> list[str]:
        """What the store calls each of these blocks, all of one length, in backups that are written now."""
        return self._writing.names(blocks)

    def block_body(self, name: str, block: bytes, cfg: BackupCfg) -> bytes:
        """What is stored under that name."""
        return self._writing.encode(name, block, cfg.compression)

    def may_reuse(self, cfg: BackupCfg) -> bool:
        """Whether blocks that this cfg names are those that would be written now: plain for plain, or the same key."""
        return opens(cfg, self._key) if self._key else not is_encrypted(cfg)

    def check_key(self, cfg: BackupCfg) -> None:
        """Raise WrongKey, with one sentence, unless its blocks can be read."""
        check_key(cfg, self._key)

    def put_block(self, name: str, body: bytes) -> bool:
        """Store the body unless there is one; False if there was. Durable after a flush."""
        return self.objects.put_if_absent(block_key(self.name, name), body, lazily=True)

    def repair_block(self, name: str, body: bytes) -> None:
        """Store the body over whatever is there. Durable after a flush."""
        self.objects.put(block_key(self.name, name), body, lazily=True)

    def checked_at_once(self, cfg: BackupCfg) -> int:
        """How many blocks `read_blocks` should be asked for: to compare so many with their names costs little more."""
        return 1 if is_encrypted(cfg) else self._plain.named_at_once  # asked before it is known whether the key fits

    def read_block(self, ref: BlockRef, cfg: BackupCfg) -> bytes:
        """The block, compared with its name. Raises DamagedBlock, MissingBlock or WrongKey, saying what is affected."""
        [found] = self.read_blocks([ref], cfg)
        if not isinstance(found, bytes):
            raise found
        return found

    def read_blocks(self, refs: Sequence[BlockRef], cfg: BackupCfg) -> "list[bytes | DamagedBlock | MissingBlock]":
        """Each of these blocks, compared with its name, or what is wrong with it. Raises WrongKey."""
        codec = self._codec_of(cfg)
        found = [self._unpacked(ref, cfg, codec) for ref in refs]
        names = iter(codec.names([block for block in found if isinstance(block, bytes)]))
        for number, ref in enumerate(refs):
            if isinstance(found[number], bytes) and next(names) != ref.checksum:
                found[number] = self._damaged(ref, cfg, "its content does not match its name")
        return found

    def _unpacked(self, ref: BlockRef, cfg: BackupCfg, codec: BlockCodec) -> bytes | DamagedBlock | MissingBlock:
        """Of the right length, but not compared yet."""
        try:
            body = self.objects.get(block_key(self.name, ref.checksum), at_most=cfg.block_size * 2 + _SLACK)
            block = codec.unpack(ref.checksum, body, cfg.compression, at_most=cfg.block_size)
        except NotFound as error:
            missing = MissingBlock(f"{self._place(ref, cfg)} is missing in the store ({ref.checksum})")
            missing.__cause__ = error
            return missing
        except (DamagedBlock, DamagedMetadata) as error:
            damaged = self._damaged(ref, cfg, str(error))
            damaged.__cause__ = error
            return damaged
        return block if len(block) == cfg.block_size else self._damaged(ref, cfg, f"it has {len(block)} bytes")

    def _damaged(self, ref: BlockRef, cfg: BackupCfg, why: str) -> DamagedBlock:
        return DamagedBlock(f"{self._place(ref, cfg)} is damaged ({ref.checksum}): {why}")

    def _place(self, ref: BlockRef, cfg: BackupCfg) -> str:
        return f"the block at {ref.offset} of backup {cfg.name} of volume {self.name}"

    @property
    def _writing(self) -> BlockCodec:
        return self._sealed or self._plain

    def _codec_of(self, cfg: BackupCfg) -> BlockCodec:
        check_key(cfg, self._key)
        return self._sealed if self._sealed and is_encrypted(cfg) else self._plain

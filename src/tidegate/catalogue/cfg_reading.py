"""Reading the cfgs of one volume through a reader that can only look: as few bytes as tell what matters."""

from dataclasses import dataclass

from tidegate.catalogue.changes import FoundBackup, found_in_cfg
from tidegate.catalogue.flow import Flow
from tidegate.errors import DamagedMetadata, NotFound, TidegateError
from tidegate.format.cfgs.cfg_metadata import (
    HEAD,
    LONG_HEAD,
    TAIL,
    BackupMetadata,
    head_metadata,
    read_head,
    volume_metadata,
    whole_metadata,
    with_tail,
)
from tidegate.format.cfgs.object_mark import object_mark
from tidegate.format.cfgs.paths import backup_cfg_key, volume_cfg_key
from tidegate.format.cfgs.volume_cfg import LARGEST_VOLUME_CFG, VolumeCfg
from tidegate.format.cfgs.volume_index import LARGEST_INDEX, IndexEntry, decode_index, index_key, proven
from tidegate.model.stores.catalogue import BackupState, StoredBackupRecord, StoredVolumeRecord
from tidegate.ports.clock import Clock
from tidegate.ports.store_reader import ObjectInfo, Part, StoreReader

_LONGEST_MESSAGE = 300


def mark_of(info: ObjectInfo) -> int:
    """The digest by which a change of an object is noticed."""
    return object_mark(size=info.size, etag=info.etag, modified_at=info.modified_at)


@dataclass(frozen=True)
class FoundCfg:
    """What came of reading a volume.cfg: a record or the sentence that says why there is none."""

    mark: int | None
    record: StoredVolumeRecord | None
    messages: dict[str, str]


@dataclass(frozen=True)
class CfgReader:
    """Reads what one volume has. Every request goes through the flow."""

    reader: StoreReader
    flow: Flow
    clock: Clock
    volume: str

    async def backup(self, name: str, info: ObjectInfo) -> FoundBackup:
        """One cfg; a damaged one is found too, with its error. Raises NotFound if it went away since it was listed."""
        mark = mark_of(info)
        try:
            metadata = await self._metadata(name, info)
        except DamagedMetadata as error:
            return _broken(name, info, error, mark)
        return found_in_cfg(metadata.record, mark, info.modified_at, volume_size=metadata.volume_size)

    async def _metadata(self, name: str, info: ObjectInfo) -> BackupMetadata:
        what, now, key = f"cfg of backup {name}", self.clock.now(), backup_cfg_key(self.volume, name)
        body, size = await self._head(key, info)
        if len(body) == size:
            return whole_metadata(body, name=name, now=now)
        head = read_head(body, what=what)
        if not head.met_blocks:  # labels longer than usual, or another order
            head = read_head((await self._part(key, 0, LONG_HEAD)).body, what=what)
        if not head.enough:
            end = await self._part(key, max(0, size - TAIL), TAIL)
            head = with_tail(head, end.body, what=what)
        if not head.enough:
            raise DamagedMetadata(
                f"{what} ({info.size} bytes) tells neither at its beginning nor at its end what it is"
            )
        return head_metadata(head, name=name, now=now)

    async def _head(self, key: str, info: ObjectInfo) -> tuple[bytes, int]:
        """Its first bytes, and the size of the whole."""
        body = await self.reader.read_start(key, length=HEAD)
        if len(body) == min(HEAD, info.size):
            return body, info.size
        # Another one than was listed, or not all of it came: asked in the way that tells which.
        part = await self._part(key, 0, HEAD)
        return part.body, part.info.size

    async def volume_cfg(self) -> FoundCfg:
        """volume.cfg; missing or damaged is told, not raised. Raises what a store raises."""
        key = volume_cfg_key(self.volume)
        try:
            part = await self._part(key, 0, LARGEST_VOLUME_CFG)
            cfg = _volume_cfg(part)
        except NotFound:
            return FoundCfg(None, None, {"error": f"cannot find {key} in backupstore"})
        except DamagedMetadata as error:
            return FoundCfg(None, None, message_of(error))
        messages = {} if cfg.name in {"", self.volume} else {"warning": f"volume.cfg calls itself {cfg.name[:80]!r}"}
        return FoundCfg(mark_of(part.info), volume_metadata(cfg), messages)

    async def index(self, info: ObjectInfo) -> bytes:
        """The index as it is stored; nothing if it cannot be had."""
        if info.size > LARGEST_INDEX:
            return b""
        try:
            part = await self._part(index_key(self.volume), 0, LARGEST_INDEX)
        except TidegateError as error:
            if self.flow.ends_all(error):
                raise
            return b""
        return part.body if part.whole else b""

    def proven_by(self, index: bytes, listed: dict[str, int]) -> dict[str, IndexEntry]:
        """What it proves of the listed backups; nothing if there is anything wrong with it."""
        try:
            return proven(decode_index(index, volume=self.volume), listed)
        except DamagedMetadata:
            return {}

    async def is_there(self, name: str) -> bool:
        """Whether the store has this backup's cfg when asked by name."""
        try:
            await self._part(backup_cfg_key(self.volume, name), 0, 1)
        except NotFound:
            return False
        return True

    async def _part(self, key: str, start: int, length: int) -> Part:
        return await self.reader.read_part(key, start=start, length=length)


def unread(name: str, info: ObjectInfo, error: TidegateError) -> FoundBackup:
    """A backup that is there but could not be read this time. Its mark is that of no cfg, so it is read again."""
    return _broken(name, info, error, mark_of(info) ^ 1)


def message_of(error: TidegateError) -> dict[str, str]:
    """What a volume or a backup says of itself when it is broken."""
    return {"error": error.message[:_LONGEST_MESSAGE]}


def _broken(name: str, info: ObjectInfo, error: TidegateError, mark: int) -> FoundBackup:
    record = StoredBackupRecord(name=name, state=BackupState.ERROR, messages=message_of(error))
    return found_in_cfg(record, mark, info.modified_at)


def _volume_cfg(part: Part) -> VolumeCfg:
    if not part.whole:
        raise DamagedMetadata(f"volume.cfg has {part.info.size} bytes; at most {LARGEST_VOLUME_CFG} were expected")
    return VolumeCfg.decode(part.body)

"""Whether a store still holds what its backups name, without restoring anything and without writing anything.

Of every backup all is read that a restore reads before it makes the first file, the manifest of a tree included: what
cannot be decoded cannot be restored, and is damaged. Memory is bounded by the blocks of one volume, with about 150
bytes for each: cfgs are read one at a time, volumes come one after the other.
"""

import threading
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from tidegate.datapath.crew import work_through
from tidegate.datapath.inspection.manifest_check import ManifestCheck
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedMetadata, MissingBlock, NotFound, WrongKey
from tidegate.format.blocks.block_map import BlockMap
from tidegate.format.blocks.checksum_set import ChecksumSet
from tidegate.format.cfgs.backup_cfg import BackupCfg, BlockRef
from tidegate.format.cfgs.paths import backup_cfg_key, block_key
from tidegate.format.cfgs.times import parse_time

READERS = 4
_MOST_PER_READER = 16 * 1024 * 1024
_ALL = 10_000
_MOST_EXAMPLES = 5


@dataclass
class BackupVerdict:
    """What was found about one backup. It is whole if nothing that a restore needs is lost."""

    backup: str
    created_at: str = ""
    blocks: int = 0
    missing: int = 0
    damaged: int = 0
    problems: list[str] = field(default_factory=list)
    in_progress: bool = False

    @property
    def whole(self) -> bool:
        """Whether it can be restored, as far as anybody looked."""
        return not self.problems and not self.in_progress


@dataclass
class VolumeVerdict:
    """What was found about one volume. Problems are damage; notes only cost space or beauty."""

    volume: str
    backups: list[BackupVerdict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    blocks: int = 0
    blocks_read: int = 0
    orphans: int = 0
    orphan_bytes: int = 0
    unread: int = 0
    """Backups whose blocks could not be read because their key was not given; they may be damaged all the same."""

    @property
    def whole(self) -> bool:
        """Whether no finished backup and no record is damaged."""
        return not self.problems and all(backup.whole or backup.in_progress for backup in self.backups)


@dataclass(frozen=True)
class Verification:
    """One look. `percent` of all blocks are read and compared: always the same ones, so a second look can confirm."""

    percent: float
    now: datetime
    checkpoint: Callable[[], None] = lambda: None
    on_stage: Callable[[str, int | None], None] = lambda _stage, _total: None
    on_bytes: Callable[[int], None] = lambda _count: None

    def volume(self, volume: StoredVolume, *, only: str = "", alone: bool = True) -> VolumeVerdict:
        """Look at all backups of a volume, or at one. Raises NotFound if there is nothing of that name.

        A volume that is looked at `alone` raises WrongKey too, if data should be read and the key opens none of it.
        """
        look = _Look(self, volume, only)
        verdict = look.verdict()
        if (
            alone
            and self.percent
            and look.wrong_key
            and verdict.unread == sum(bool(backup.created_at) for backup in verdict.backups)
        ):
            raise look.wrong_key
        return verdict


class _Sample:
    """The blocks to read, in a few bytes each: by backup, and there in the order of the volume."""

    def __init__(self) -> None:
        self._parts: list[tuple[BackupCfg, array[int], bytearray]] = []

    def begin(self, cfg: BackupCfg) -> None:
        """What is added from here on belongs to this backup."""
        self._parts.append((cfg, array("Q"), bytearray()))

    def add(self, ref: BlockRef) -> None:
        _, offsets, digests = self._parts[-1]
        offsets.append(ref.offset)
        digests += bytes.fromhex(ref.checksum)

    @property
    def size(self) -> int:
        """Bytes, as they lie in the volume."""
        return sum(cfg.block_size * len(offsets) for cfg, offsets, _ in self._parts)

    def __len__(self) -> int:
        return sum(len(offsets) for _, offsets, _ in self._parts)

    def several(self, at_once: Callable[[BackupCfg], int]) -> Iterator[tuple[list[BlockRef], BackupCfg]]:
        """All of them, as many `at_once` as that says for a backup."""
        for cfg, offsets, digests in self._parts:
            refs, count = iter(BlockMap(offsets, digests)), at_once(cfg)
            while some := [*islice(refs, count)]:
                yield some, cfg


class _Look:
    def __init__(self, wanted: Verification, volume: StoredVolume, only: str) -> None:
        self._wanted = wanted
        self._volume = volume
        self._only = only
        self._found = VolumeVerdict(volume.name)
        self._needed = ChecksumSet()
        self._present = 0  # of those that are needed
        self._sample = _Sample()
        self._damaged: dict[str, str] = {}
        self._newest: BackupCfg | None = None
        self._lock = threading.Lock()
        self._manifests = ManifestCheck(volume, checkpoint=wanted.checkpoint)
        self.wrong_key: WrongKey | None = None

    def verdict(self) -> VolumeVerdict:
        self._wanted.on_stage(f"listing {self._volume.name}", None)
        names = self._names()
        stored = ChecksumSet()
        for name, size in self._volume.block_sizes():
            stored.add(name, size)
            if size == 0:
                self._damaged[name] = "it is empty"
        self._found.blocks = len(stored)
        self._found.backups = [self._look_at(name, stored) for name in names]
        self._read_sample()
        if self._damaged:
            for verdict in self._found.backups:
                self._blame(verdict)
        if not self._only:
            self._look_at_orphans(stored)
        self._look_at_record(stored)
        return self._found

    def _names(self) -> list[str]:
        names = self._volume.backup_names()
        if self._only:
            if self._only not in names:
                raise NotFound(f"cannot find backup {self._only} of volume {self._volume.name} in the store")
            return [self._only]
        return sorted(names)

    def _look_at(self, name: str, stored: ChecksumSet) -> BackupVerdict:
        self._wanted.checkpoint()
        verdict = BackupVerdict(name)
        try:
            cfg = self._volume.backup_cfg(name)
        except DamagedMetadata as error:
            verdict.problems.append(error.message)
            return verdict
        except NotFound:  # deleted since the listing
            return verdict
        verdict.created_at, verdict.blocks = cfg.created_time, len(cfg.blocks)
        if cfg.in_progress:
            verdict.in_progress = True
            self._found.notes.append(self._leftover(name))
            return verdict
        self._check_names(cfg, verdict)
        opens = self._opens(cfg)
        self._check_blocks(cfg, stored, verdict, percent=self._wanted.percent if opens else 0)
        if opens and not cfg.single_file and (problem := self._manifests.problem(cfg)):
            verdict.problems.append(f"it cannot be restored: {problem}")
        if self._newest is None or _age(cfg) > _age(self._newest):
            self._newest = replace(cfg, blocks=())
        return verdict

    def _leftover(self, name: str) -> str:
        key = backup_cfg_key(self._volume.name, name)
        try:
            age = self._wanted.now - self._volume.objects.head(key).modified_at
        except NotFound:
            return f"backup {name} was in progress and is gone"
        hours = age.total_seconds() / 3600
        return f"backup {name} is in progress, or its writer died: begun {hours:.1f} hours ago; it stops all clean-up"

    def _check_names(self, cfg: BackupCfg, verdict: BackupVerdict) -> None:
        if cfg.name != verdict.backup or cfg.volume_name != self._volume.name:
            verdict.problems.append(f"its cfg is that of backup {cfg.name[:80]} of volume {cfg.volume_name[:80]}")

    def _check_blocks(self, cfg: BackupCfg, stored: ChecksumSet, verdict: BackupVerdict, *, percent: float) -> None:
        self._sample.begin(replace(cfg, blocks=()))
        for ref in cfg.blocks:
            is_stored = ref.checksum in stored
            is_new = self._needed.add(ref.checksum)
            self._present += is_new and is_stored
            if not is_stored and self._is_missing(ref):
                verdict.missing += 1
                if verdict.missing <= _MOST_EXAMPLES:
                    verdict.problems.append(f"the block at {ref.offset} is missing ({ref.checksum})")
            elif is_new and _sampled(ref.checksum, percent) and ref.checksum not in self._damaged:
                self._sample.add(ref)
        if verdict.missing > _MOST_EXAMPLES:
            verdict.problems.append(f"and {verdict.missing - _MOST_EXAMPLES} more blocks are missing")

    def _opens(self, cfg: BackupCfg) -> bool:
        try:
            self._volume.check_key(cfg)
        except WrongKey as error:
            # Without data to read, to see that blocks are there is what was asked for; it needs no key.
            self._found.unread += bool(self._wanted.percent)
            if self.wrong_key is None:
                self.wrong_key = error
                self._found.notes.append(f"{error.message}, so its blocks, and those of others like it, were not read")
            return False
        return True

    def _is_missing(self, ref: BlockRef) -> bool:
        """A block that came after the listing is not missing: ask for it by name."""
        try:
            self._volume.objects.head(block_key(self._volume.name, ref.checksum))
        except NotFound:
            return True
        return False

    def _read_sample(self) -> None:
        if len(self._sample):
            self._wanted.on_stage(f"reading {self._volume.name}", self._sample.size)
            work_through(self._sample.several(self._at_once), self._read, threads=READERS)
        self._found.blocks_read = len(self._sample)

    def _at_once(self, cfg: BackupCfg) -> int:
        return max(1, min(self._volume.checked_at_once(cfg), _MOST_PER_READER // cfg.block_size))

    def _read(self, work: tuple[list[BlockRef], BackupCfg]) -> None:
        self._wanted.checkpoint()
        refs, cfg = work
        for ref, found in zip(refs, self._volume.read_blocks(refs, cfg), strict=True):
            if not isinstance(found, bytes):
                lost = isinstance(found, MissingBlock)
                with self._lock:
                    self._damaged[ref.checksum] = "it went away while it was looked at" if lost else found.message
            self._wanted.on_bytes(cfg.block_size)

    def _blame(self, verdict: BackupVerdict) -> None:
        """Which backups a damaged block belongs to: the cfgs are read once more, which costs less than to keep them."""
        try:
            cfg = self._volume.backup_cfg(verdict.backup)
        except (DamagedMetadata, NotFound):
            return
        for ref in cfg.blocks:
            if ref.checksum in self._damaged:
                verdict.damaged += 1
                if verdict.damaged <= _MOST_EXAMPLES:
                    verdict.problems.append(f"the block at {ref.offset} is damaged ({ref.checksum})")
        if verdict.damaged > _MOST_EXAMPLES:
            verdict.problems.append(f"and {verdict.damaged - _MOST_EXAMPLES} more blocks are damaged")

    def _look_at_orphans(self, stored: ChecksumSet) -> None:
        if any(backup.problems and not backup.blocks for backup in self._found.backups):
            return  # a cfg that cannot be read may name any of them
        for name in stored:
            if name not in self._needed:
                self._found.orphans += 1
                self._found.orphan_bytes += stored.number(name) or 0
        if self._found.orphans:
            self._found.notes.append(
                f"{self._found.orphans} blocks belong to no finished backup; clean up with: store gc"
            )

    def _look_at_record(self, stored: ChecksumSet) -> None:
        try:
            cfg = self._volume.volume_cfg()
        except (NotFound, DamagedMetadata) as error:
            if isinstance(error, NotFound) and not self._found.backups and not len(stored):
                raise
            self._found.problems.append(f"{error.message}; mend it with: store repair-index")
            return
        if self._only:
            return
        if cfg.block_count != self._present:
            self._found.notes.append(
                f"volume.cfg counts {cfg.block_count} blocks; backups name {self._present} of those there"
            )
        names = {backup.backup for backup in self._found.backups}
        if cfg.last_backup_name and cfg.last_backup_name not in names:
            self._found.notes.append(f"volume.cfg names {cfg.last_backup_name} as the last backup, which is not there")
        elif (
            self._newest is not None
            and cfg.last_backup_name != self._newest.name
            and self._is_older(cfg.last_backup_at)
        ):
            self._found.notes.append(
                f"volume.cfg names {cfg.last_backup_name or 'no backup'} as the last; {self._newest.name} is newer"
            )

    def _is_older(self, last_backup_at: str) -> bool:
        then = parse_time(last_backup_at)
        return self._newest is not None and (then is None or then.timestamp() < _age(self._newest))


def _sampled(checksum: str, percent: float) -> bool:
    """Checksums are spread evenly, so a part of their range is a fair sample; and always the same one."""
    return int(checksum[:8], 16) % _ALL < percent * _ALL / 100


def _age(cfg: BackupCfg) -> float:
    moment = parse_time(cfg.snapshot_created_at)
    return moment.timestamp() if moment else float("-inf")


def problems_of(verdict: VolumeVerdict) -> Iterator[str]:
    """Every problem as a sentence that says whose it is."""
    for problem in verdict.problems:
        yield f"volume {verdict.volume}: {problem}"
    for backup in verdict.backups:
        for problem in backup.problems:
            yield f"backup {backup.backup} of volume {verdict.volume}: {problem}"

"""The next step of each block of a backup: pre hooks, uploads, post hooks, done.

Everything is told from what is stored: the blocks, the uploads, and what came of hooks that have ended. What is to be
run or made is said only for blocks in a phase that is stored before it happens, so a crash in between is seen as such.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tidegate.decide.backups.block_hooks import StageResult, counted, has_hooks
from tidegate.decide.backups.slot_lifetime import needs_live_data
from tidegate.model.backups.hooks import BackupHooks, HookStage, HookStatus
from tidegate.model.backups.item_block import BlockPhase, BlockProgress
from tidegate.model.transfers.transfer import Transfer

HookKey = tuple[str, HookStage]

_STAGES = {BlockPhase.PRE_HOOKS: HookStage.PRE, BlockPhase.POST_HOOKS: HookStage.POST}


def block_key(block: BlockProgress, stage: HookStage) -> HookKey:
    """A name for the hooks of a block. The first volume names the block, for it is in no other."""
    return block.volumes[0], stage


@dataclass(frozen=True)
class BlockSight:
    """What the steps of a backup's blocks are told from."""

    hooks: BackupHooks
    uploads: Mapping[str, Transfer]
    """By volume, as `namespace/name`."""
    results: Mapping[HookKey, StageResult]
    """Of hooks that have ended and are not yet counted."""
    workers: int
    gone: frozenset[str] = frozenset()
    """Volumes that were deleted before their turn came."""
    ending: bool = False
    """Whether the backup is called off: nothing new begins, but what is frozen is released."""
    overdue: bool = False
    """Whether a backup that is called off has waited long enough for uploads that do not stop."""

    def holds_up(self, volume: str) -> bool:
        """Whether the volume's block must wait for it."""
        if self.overdue:
            return False
        upload = self.uploads.get(volume)
        return needs_live_data(upload) if upload else not self.ending and volume not in self.gone


@dataclass
class BlockSteps:
    """How the blocks shall be stored, and what is to be done once they are."""

    hook_status: HookStatus | None
    blocks: list[BlockProgress] = field(default_factory=list)
    run: list[tuple[BlockProgress, HookStage]] = field(default_factory=list)
    stop: list[HookKey] = field(default_factory=list)
    upload: list[str] = field(default_factory=list)
    refuse: dict[str, str] = field(default_factory=dict)
    """Volumes that must not be backed up, and why: to be told before the blocks are stored."""
    counted: list[HookKey] = field(default_factory=list)
    """Results that may be forgotten once the blocks are stored."""


def next_steps(blocks: Sequence[BlockProgress], status: HookStatus | None, sight: BlockSight) -> BlockSteps:
    """What to do now. Workers that become free are taken in the same step."""
    steps = BlockSteps(status)
    under_way = [_advanced(block, sight, steps) for block in blocks if block.under_way]
    steps.blocks += [block for block in under_way if block is not None]
    for block in blocks:
        if block.under_way or sight.ending:
            continue
        if len(steps.blocks) >= sight.workers:
            steps.blocks.append(block)
        elif begun := _advanced(block.replace(phase=BlockPhase.PRE_HOOKS), sight, steps):
            steps.blocks.append(begun)
    return steps


def _advanced(block: BlockProgress, sight: BlockSight, steps: BlockSteps) -> BlockProgress | None:
    """The block as far as it comes now; None when it is done."""
    now: BlockProgress | None = block
    while now is not None:
        before = now
        now = _moved(now, sight, steps) if now.phase is BlockPhase.MOVING else _after_hooks(now, sight, steps)
        if now == before:
            return now
    return None


def _after_hooks(block: BlockProgress, sight: BlockSight, steps: BlockSteps) -> BlockProgress | None:
    stage = _STAGES[block.phase]
    key = block_key(block, stage)
    result = sight.results.get(key)
    if result is None and has_hooks(sight.hooks, block, stage):
        if stage is HookStage.PRE and sight.ending:
            steps.stop.append(key)
        else:
            steps.run.append((block, stage))
        return block
    if result is not None:
        steps.hook_status = counted(steps.hook_status, stage, result)
        steps.counted.append(key)
    if stage is HookStage.POST:
        return None
    fatal = result.fatal if result else None
    if fatal is not None and not sight.ending:
        steps.refuse.update(dict.fromkeys(block.volumes, fatal))
    called_off = fatal is not None or sight.ending
    return block.replace(phase=BlockPhase.POST_HOOKS if called_off else BlockPhase.MOVING)


def _moved(block: BlockProgress, sight: BlockSight, steps: BlockSteps) -> BlockProgress:
    waiting = [volume for volume in block.volumes if sight.holds_up(volume)]
    if not waiting:
        return block.replace(phase=BlockPhase.POST_HOOKS)
    now = waiting[:1] if block.one_by_one else waiting
    steps.upload += [volume for volume in now if volume not in sight.uploads]
    return block

"""Which hooks concern a block, and what they come to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidegate.decide.queue.overlap import selects
from tidegate.model.backups.hooks import BackupHooks, ExecHook, HookStage, HookStatus, OnError, ResourceHooks
from tidegate.model.backups.item_block import BlockProgress, HookCall
from tidegate.model.labels import Selector
from tidegate.model.volumes.volume import Volume

_KEPT_PROBLEMS = 5


@dataclass(frozen=True)
class HookFailure:
    """A hook that did not end well."""

    message: str
    on_error: OnError


@dataclass(frozen=True)
class StageResult:
    """What came of all hooks of a block at one stage."""

    attempted: int = 0
    failures: tuple[HookFailure, ...] = ()

    @property
    def fatal(self) -> str | None:
        """Why the block's volumes must not be backed up, if so."""
        return next((failure.message for failure in self.failures if failure.on_error is OnError.FAIL), None)


def calls_for(hooks: BackupHooks, volumes: Sequence[Volume]) -> tuple[HookCall, ...]:
    """The hooks for a block of these volumes: each once per namespace, in the order in which the backup lists them."""
    calls: list[HookCall] = []
    for number, hook in enumerate(hooks.resources):
        by_namespace: dict[str, list[str]] = {}
        for volume in volumes:
            if _concerns(hook, volume):
                by_namespace.setdefault(volume.namespace, []).append(volume.name)
        calls += [HookCall(hook=number, namespace=ns, volumes=tuple(names)) for ns, names in by_namespace.items()]
    return tuple(calls)


def hooks_at(hooks: BackupHooks, block: BlockProgress, stage: HookStage) -> Iterator[tuple[HookCall, str, ExecHook]]:
    """What is to be run for a block at a stage, in order, with the name of the hook it belongs to."""
    for call in block.hooks:
        resource = hooks.resources[call.hook]
        for hook in resource.at(stage):
            yield call, resource.name, hook


def has_hooks(hooks: BackupHooks, block: BlockProgress, stage: HookStage) -> bool:
    """Whether anything is to be run for the block at this stage."""
    return any(True for _ in hooks_at(hooks, block, stage))


def counted(status: HookStatus | None, stage: HookStage, result: StageResult) -> HookStatus:
    """The counts with this result added. What a failed pre hook cost is told by the volumes that failed with it."""
    before = status or HookStatus()
    fatal = sum(failure.on_error is OnError.FAIL for failure in result.failures)
    told = (*before.problems, *(failure.message for failure in result.failures))
    return HookStatus(
        hooks_attempted=before.hooks_attempted + result.attempted,
        hooks_failed=before.hooks_failed + len(result.failures),
        errors=before.errors + (fatal if stage is HookStage.POST else 0),
        warnings=before.warnings + len(result.failures) - fatal,
        problems=told[:_KEPT_PROBLEMS],
    )


def _concerns(hook: ResourceHooks, volume: Volume) -> bool:
    if not selects(volume.namespace, included=hook.included_namespaces, excluded=hook.excluded_namespaces):
        return False
    wanted = hook.label_selector
    return wanted is None or Selector.matching(wanted.match_labels).holds_for(volume.metadata.labels)

"""Item blocks: the items of one backup that are handled together, and how far each block is."""

from enum import StrEnum

from pydantic import Field

from tidegate.model.frozen import Model

# Volumes of one namespace with the same value of this label belong to one block: one moment, one pair of hooks.
VOLUME_GROUP_LABEL = "tidegate.dev/volume-group"


class BlockPhase(StrEnum):
    """Pending waits for a worker; the others are under way. A block that is done is no longer listed."""

    PENDING = "Pending"
    PRE_HOOKS = "PreHooks"
    MOVING = "Moving"
    POST_HOOKS = "PostHooks"


class HookCall(Model):
    """Hooks that concern a block. Settled with the block: labels that change later must not leave anything frozen."""

    hook: int
    """Which of `spec.hooks.resources`."""
    namespace: str
    volumes: tuple[str, ...]
    """Names within the namespace."""


class BlockProgress(Model):
    """One block that is not done."""

    volumes: tuple[str, ...]
    """As `namespace/name`, in the order in which they are handled."""
    expected_sizes: dict[str, int] = Field(default_factory=dict)
    """Bytes of each volume as they were last known; what is not known is left out."""
    one_by_one: bool = False
    """Whether each volume waits for the one before it, because `orderedResources` says so."""
    hooks: tuple[HookCall, ...] = ()
    phase: BlockPhase = BlockPhase.PENDING

    @property
    def under_way(self) -> bool:
        """Whether it has one of the backup's workers."""
        return self.phase is not BlockPhase.PENDING

"""The load as the API tells it: what each node carries, who is made ready, who waits for what."""

from tidegate.model.frozen import Model
from tidegate.model.reasons import Reason
from tidegate.model.transfers.load import LoadConcurrency
from tidegate.model.transfers.node import NodeLoad
from tidegate.model.transfers.transfer import TransferPhase


class LoadedNode(Model):
    """One node with what it carries."""

    name: str
    ready: bool
    slots: int | None = None
    load: NodeLoad


class PrepareQueue(Model):
    """Transfers that are made ready, or are ready and wait for their node."""

    length: int | None = None
    """How many there may be. Absent: unconstrained."""
    backups: int = 0
    restores: int = 0
    restore_share: int = 0
    """Places that backups do not take ahead of their node's turn."""


class RestoreSlots(Model):
    """Volume restores that have begun, against the setting concurrent-backup-restore-limit."""

    in_use: int
    limit: int
    """0 pauses all restores."""
    queued: int = 0
    """Restores of which nothing has begun: while all are paused, or while something else works on what they write to.
    None of their volumes is among `waiting`."""


class WaitingTransfers(Model):
    """How many wait in one phase for one reason."""

    phase: TransferPhase
    reason: Reason
    backups: int = 0
    restores: int = 0


class LoadStatus(Model):
    """The whole load, and the configuration that it is held against."""

    configuration: LoadConcurrency
    version: str = ""
    """Of the configuration, also of one that nobody set; who names it in a change is told if another was faster."""
    nodes: tuple[LoadedNode, ...] = ()
    prepare_queue: PrepareQueue
    restores: RestoreSlots
    waiting: tuple[WaitingTransfers, ...] = ()

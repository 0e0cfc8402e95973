"""What the API is given by the composition root."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidegate.decide.backup_figures import BackupFigures
from tidegate.decide.queue_table import QueueTable
from tidegate.decide.transfer_table import TransferTable
from tidegate.ports.clock import Clock
from tidegate.ports.hook_runner import HookRunner, NoHooks
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import NoSecrets, SecretStore
from tidegate.ports.surroundings import Surroundings
from tidegate.ports.system_archives import NoArchives, SystemArchives


@dataclass
class Services:
    """The ports and facts that routes need. One per server."""

    store: ResourceStore
    clock: Clock
    surroundings: Surroundings
    token_is_good: Callable[[str], bool]
    version: str
    queue: QueueTable | None = None
    """Kept up to date by the server's controllers; without it, the store is listed."""
    figures: BackupFigures | None = None
    """As for the queue: kept up to date by the controllers, or made from a list."""
    transfers: TransferTable | None = None
    """As for the queue."""
    queue_decisions: Callable[[], Mapping[str, int]] = dict
    secrets: SecretStore = field(default_factory=NoSecrets)
    hooks: HookRunner = field(default_factory=NoHooks)
    archives: SystemArchives = field(default_factory=NoArchives)
    reconcile_errors: Callable[[], dict[str, int]] = dict
    shutting_down: asyncio.Event = field(default_factory=asyncio.Event)
    """Open event streams watch it, or the server could not stop (uvicorn waits for them)."""

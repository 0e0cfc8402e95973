"""What the API is given by the composition root."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from tidegate.api.bell import Bell
from tidegate.api.event_lines import EventLines
from tidegate.api.page_files import PageFiles
from tidegate.api.security.sessions import LoginGuard, Sessions
from tidegate.decide.access.forwarded import Networks
from tidegate.errors import DatabaseDamaged
from tidegate.ports.accounts import Accounts
from tidegate.ports.audit import AuditLog
from tidegate.ports.catalogue import Catalogue
from tidegate.ports.catalogue_syncs import CatalogueSyncs
from tidegate.ports.clock import Clock
from tidegate.ports.deletions import Deletions
from tidegate.ports.hook_runner import HookRunner, NoHooks
from tidegate.ports.notifier import NoNotifier, Notifier
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import NoSecrets, SecretStore
from tidegate.ports.store_probe import StoreProbe
from tidegate.ports.stored_trees import NoTrees, StoredTrees
from tidegate.ports.system_archives import NoArchives, SystemArchives
from tidegate.ports.system_restore_plans import NoSystemRestorePlans, SystemRestorePlans
from tidegate.ports.volume_probe import VolumeProbe
from tidegate.state.server_state import ServerState


@dataclass
class Services:
    """The ports and facts that routes need. One per server."""

    state: ServerState
    clock: Clock
    volume_probe: VolumeProbe
    store_probe: StoreProbe
    token_is_good: Callable[[str], bool]
    version: str
    damage: Callable[[], DatabaseDamaged | None] = lambda: None
    """What is known of damage to the database: from then on the server is not ready."""
    event_lines: EventLines = field(default_factory=EventLines)
    catalogue: Catalogue | None = None
    make_way: Callable[[], None] = lambda: None
    """Called when somebody looks into the catalogue: what runs in the background steps aside for a while."""
    syncs: CatalogueSyncs | None = None
    deletions: Deletions | None = None
    sessions: Sessions = field(default_factory=Sessions)
    """Cookies that count as the token did; made by one that nobody else has, unless the server gives its own key."""
    logins: LoginGuard = field(default_factory=LoginGuard)
    accounts: Accounts | None = None
    """Without them, nobody comes in but the owner."""
    access_bell: Bell = field(default_factory=Bell)
    """Rung when somebody's token, role or password is another one: open event streams look whether they may go on."""
    audit: AuditLog | None = None
    trusted_proxies: Networks = ()
    """Whose word about the client counts."""
    hosts: frozenset[str] | None = None
    """By which names it may be called, beside addresses and localhost; None: by every name."""
    open_metrics: bool = False
    """Whether `/metrics` needs no token."""
    page: PageFiles = field(default_factory=PageFiles)
    """The built web page; empty where nobody built it."""
    secrets: SecretStore = field(default_factory=NoSecrets)
    hooks: HookRunner = field(default_factory=NoHooks)
    notifier: Notifier = field(default_factory=NoNotifier)
    archives: SystemArchives = field(default_factory=NoArchives)
    restore_plans: SystemRestorePlans = field(default_factory=NoSystemRestorePlans)
    trees: StoredTrees = field(default_factory=NoTrees)
    reconcile_errors: Callable[[], dict[str, int]] = dict
    shutting_down: asyncio.Event = field(default_factory=asyncio.Event)
    """Open event streams watch it, or the server could not stop (uvicorn waits for them)."""

    @property
    def store(self) -> ResourceStore:
        """Where routes read and write: own writes are visible at once."""
        return self.state.store

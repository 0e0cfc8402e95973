"""What differs between one machine and a cluster: one value that chooses every implementation."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tidegate.controllers.stores.catalogue_sync import Run
from tidegate.errors import DatabaseDamaged
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.ports.accounts import Accounts
from tidegate.ports.audit import AuditLog
from tidegate.ports.catalogue import Catalogue
from tidegate.ports.clock import Clock
from tidegate.ports.ended_sessions import EndedSessions
from tidegate.ports.hook_runner import HookRunner, NoHooks
from tidegate.ports.mover_host import MoverHost
from tidegate.ports.notifier import NoNotifier, Notifier
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.scratch import NoScratch, ScratchRoom
from tidegate.ports.secrets import NoSecrets, SecretStore
from tidegate.ports.store_probe import StoreProbe
from tidegate.ports.stored_trees import NoTrees, StoredTrees
from tidegate.ports.system_archives import NoArchives, SystemArchives
from tidegate.ports.volume_probe import VolumeProbe
from tidegate.state.server_state import ServerState


@dataclass(frozen=True, kw_only=True)
class Catalogues:
    """The catalogue, and what fills it."""

    catalogue: Catalogue
    run_sync: Run
    make_way: Callable[[], None] = lambda: None
    """Called when somebody looks into the catalogue: what runs in the background steps aside for a while."""


@dataclass(frozen=True, kw_only=True)
class Entrance:
    """Who may come in."""

    accounts: Accounts
    audit: AuditLog
    ended_sessions: EndedSessions
    token_is_good: Callable[[str], bool]
    session_key: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Platform:
    """Where a server runs. `app/wiring.py` builds the same server on top of every one."""

    clock: Clock
    state: ServerState
    """Over the platform's resource store."""
    movers: MoverHost
    store_probe: StoreProbe
    volume_probe: VolumeProbe
    secrets: SecretStore = field(default_factory=NoSecrets)
    hooks: HookRunner = field(default_factory=NoHooks)
    scratch: ScratchRoom = field(default_factory=NoScratch)
    notifier: Notifier = field(default_factory=NoNotifier)
    archives: SystemArchives = field(default_factory=NoArchives)
    trees: StoredTrees = field(default_factory=NoTrees)
    catalogues: Catalogues | None = None
    entrance: Entrance | None = None
    keep_out: tuple[KeptPlace, ...] = ()
    """Beside the stores: places into which no restore writes."""
    damage: Callable[[], DatabaseDamaged | None] = lambda: None
    """What is known of damage to the resource store."""

    @property
    def store(self) -> ResourceStore:
        """What controllers and API read and write."""
        return self.state.store

"""The platform that is one machine: SQLite, child processes, files below a data directory."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from random import Random

from tidegate.access.accounts import SqliteAccounts
from tidegate.access.audit import SqliteAudit
from tidegate.access.ended_sessions import SqliteEndedSessions
from tidegate.app.catalogue_watch import CatalogueWatch, noticing_damage
from tidegate.app.database_watch import DatabaseWatch
from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.data_dir import DataDir, token_check
from tidegate.app.machine.hook_files import HookFiles
from tidegate.app.machine.identity import new_id
from tidegate.app.machine.scratch_files import ScratchFiles
from tidegate.app.machine.secret_files import SecretFiles
from tidegate.app.machine.store_probe import ThreadedStoreProbe
from tidegate.app.machine.stored_trees import KeptTrees
from tidegate.app.machine.system_archives import StoreArchives
from tidegate.app.machine.virtual_nodes import register_nodes
from tidegate.app.machine.volume_probe import LocalVolumeProbe
from tidegate.app.notices.notifiers import RealNotifier
from tidegate.app.options import ServerOptions
from tidegate.app.platform import Catalogues, Entrance, Platform
from tidegate.app.processes.child_movers import ChildMovers
from tidegate.app.processes.children import Children
from tidegate.app.processes.nursery import Trade
from tidegate.app.processes.sync_client import SyncProcess
from tidegate.app.settings_at_start import write_settings
from tidegate.app.wiring import Work
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.controllers.emergency_stop import EmergencyStop
from tidegate.model.volumes.kept_place import data_directory
from tidegate.resources.paged import PagedStore
from tidegate.resources.sqlite import SqliteStore
from tidegate.state.server_state import ServerState


@dataclass(frozen=True)
class OneMachine:
    """The platform, and what has to be watched and ended on a machine."""

    platform: Platform
    database: SqliteStore
    catalogue: SqliteCatalogue
    hooks: HookFiles
    sync_process: SyncProcess

    def watches(self, work: Work) -> Sequence[DatabaseWatch | CatalogueWatch]:
        """What looks after the files of the databases for as long as the server runs."""
        stop = EmergencyStop(work.runtime, work.movers, work.hooks).stop
        clock = self.platform.clock
        database = DatabaseWatch(self.database.guard, clock, stop)
        assert work.syncs is not None  # noqa: S101  # this platform has a catalogue
        return database, CatalogueWatch(self.catalogue, clock, work.syncs, work.desk, self.sync_process.restart)

    def end_hooks(self) -> None:
        """End the programs that run now."""
        self.hooks.close()


@asynccontextmanager
async def one_machine(data_dir: DataDir, options: ServerOptions) -> AsyncIterator[OneMachine]:
    """Open everything below a data directory that is ours; close it all behind the block."""
    clock, token = SystemClock(), data_dir.token()
    database = await SqliteStore.open(data_dir.database, clock=clock, new_id=new_id)
    closing = contextlib.ExitStack()
    try:
        store = await PagedStore.over(database)
        await write_settings(store, options)
        hooks = HookFiles(data_dir.hooks, running=data_dir.hooks_running)
        hooks.end_leftovers()  # before any post hook: a pre hook of a dead server must not freeze behind it
        await register_nodes(store, options.nodes, clock=clock)
        children = Children(data_dir.maps)
        catalogue = SqliteCatalogue.open(data_dir.catalogue)
        closing.callback(catalogue.close)
        sync_process = SyncProcess(data_dir.catalogue, lambda: children.start(Trade.SYNC))
        secrets, store_probe = SecretFiles(data_dir.secrets), ThreadedStoreProbe()
        trees = KeptTrees(store_probe, clock)
        closing.callback(trees.close)
        platform = Platform(
            clock=clock,
            state=ServerState(store, clock, Random()),  # noqa: S311  # jitter, not secrets
            movers=ChildMovers(children),
            store_probe=store_probe,
            volume_probe=LocalVolumeProbe(own=data_dir.path),
            secrets=secrets,
            hooks=hooks,
            scratch=ScratchFiles(data_dir.scratch),
            notifier=RealNotifier(secrets, clock),
            archives=StoreArchives(store_probe),
            trees=trees,
            catalogues=Catalogues(
                catalogue=catalogue,
                run_sync=noticing_damage(catalogue, sync_process.run),
                make_way=sync_process.cores.make_way,
            ),
            entrance=_entrance(data_dir, token, closing),
            keep_out=(data_directory(str(data_dir.path.absolute())),),
            damage=lambda: database.guard.damage,
        )
        try:
            yield OneMachine(platform, database, catalogue, hooks, sync_process)
        finally:
            await sync_process.close()
            await children.close()
    finally:
        closing.close()
        await database.close()


def _entrance(data_dir: DataDir, token: str, closing: ExitStack) -> Entrance:
    accounts, audit = SqliteAccounts.open(data_dir.access), SqliteAudit.open(data_dir.access)
    ended = SqliteEndedSessions.open(data_dir.access)
    for kept in (ended, accounts, audit):
        closing.callback(kept.close)
    return Entrance(
        accounts=accounts,
        audit=audit,
        ended_sessions=ended,
        token_is_good=token_check(token),
        session_key=token.encode(),
    )

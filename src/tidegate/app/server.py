"""The process `tidegate server`: everything on one machine, put together here."""

import asyncio
import contextlib
import signal
import socket
import sys
from pathlib import Path
from random import Random
from typing import Any

import structlog

import tidegate
from tidegate import __version__
from tidegate.access.accounts import SqliteAccounts
from tidegate.access.audit import SqliteAudit
from tidegate.access.ended_sessions import SqliteEndedSessions
from tidegate.api.page_files import PageFiles, read_page
from tidegate.api.routes.page import NO_PAGE
from tidegate.api.security.sessions import Sessions
from tidegate.api.services import Services
from tidegate.app.catalogue_watch import CatalogueWatch, noticing_damage
from tidegate.app.database_watch import DatabaseWatch
from tidegate.app.http.server import HttpServer, listening_socket, url_of
from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.collector import search_seldom
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
from tidegate.app.processes.child_movers import ChildMovers
from tidegate.app.processes.children import Children
from tidegate.app.processes.nursery import Trade
from tidegate.app.processes.sync_client import SyncProcess
from tidegate.app.settings_at_start import write_settings
from tidegate.app.wiring import build_runtime
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.controllers.backups.hook_supervisor import HookSupervisor
from tidegate.controllers.emergency_stop import EmergencyStop
from tidegate.controllers.movers.supervisor import MoverSupervisor
from tidegate.controllers.runtime import Runtime
from tidegate.controllers.stores.catalogue_sync import CatalogueSync
from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.controllers.system.restore_planner import SystemRestorePlanner
from tidegate.model.volumes.kept_place import data_directory
from tidegate.resources.paged import PagedStore
from tidegate.resources.sqlite import SqliteStore
from tidegate.state.server_state import ServerState

log = structlog.get_logger(__name__)

# Where `make ui` puts the page and a wheel carries it.
_PAGE = Path(tidegate.__file__).parent / "page"


def run_server(options: ServerOptions) -> None:
    """Run until a signal says stop. Raises UserError before anything is changed if it cannot run."""
    data_dir = DataDir(options.data_dir)
    data_dir.take()
    data_dir.warn_of_loss()
    try:
        with listening_socket(options.host, options.port) as listener:
            asyncio.run(_serve(data_dir, listener, options))
    finally:
        data_dir.release()


async def _serve(data_dir: DataDir, listener: socket.socket, options: ServerOptions) -> None:
    stop = _stop_signal()
    clock, token = SystemClock(), data_dir.token()
    database = await SqliteStore.open(data_dir.database, clock=clock, new_id=new_id)
    closing = contextlib.ExitStack()
    try:
        store = await PagedStore.over(database)
        await write_settings(store, options)
        hooks = HookFiles(data_dir.hooks, running=data_dir.hooks_running)
        hooks.end_leftovers()  # before any post hook: a pre hook of a dead server must not freeze behind it
        store_probe, volume_probe = ThreadedStoreProbe(), LocalVolumeProbe(own=data_dir.path)
        secrets = SecretFiles(data_dir.secrets)
        await register_nodes(store, options.nodes, clock=clock)
        children = Children(data_dir.maps)
        movers, hook_runs = ChildMovers(children), HookSupervisor(hooks)
        catalogue = SqliteCatalogue.open(data_dir.catalogue)
        closing.callback(catalogue.close)
        accounts, audit = SqliteAccounts.open(data_dir.access), SqliteAudit.open(data_dir.access)
        ended = SqliteEndedSessions.open(data_dir.access)
        for kept in (ended, accounts, audit):
            closing.callback(kept.close)
        sync_process = SyncProcess(data_dir.catalogue, lambda: children.start(Trade.SYNC))
        state = ServerState(store, clock, Random())  # noqa: S311  # jitter, not secrets
        syncs = CatalogueSync(state.store, clock, secrets, catalogue, noticing_damage(catalogue, sync_process.run))
        desk = DeletionDesk(state.store, catalogue)
        await desk.hide_all()
        scratch, notifier = ScratchFiles(data_dir.scratch), RealNotifier(secrets, clock)
        archives, trees = StoreArchives(store_probe), KeptTrees(store_probe, clock)
        closing.callback(trees.close)
        runtime, supervisor = build_runtime(
            state,
            clock,
            movers,
            store_probe,
            volume_probe=volume_probe,
            secrets=secrets,
            hooks=hooks,
            hook_supervisor=hook_runs,
            syncs=syncs,
            scratch=scratch,
            notifier=notifier,
            desk=desk,
            archives=archives,
            keep_out=(data_directory(str(data_dir.path.absolute())),),
        )
        services = Services(
            state=state,
            clock=clock,
            volume_probe=volume_probe,
            store_probe=store_probe,
            secrets=secrets,
            hooks=hooks,
            notifier=notifier,
            archives=archives,
            restore_plans=SystemRestorePlanner(store, volume_probe, secrets, archives),
            trees=trees,
            token_is_good=token_check(token),
            sessions=Sessions(token.encode(), ended),
            accounts=accounts,
            audit=audit,
            trusted_proxies=options.connections.trusted_proxies,
            hosts=options.hosts | {options.host.lower(), socket.gethostname().lower()},
            open_metrics=options.open_metrics,
            page=read_page(_PAGE),
            version=__version__,
            damage=lambda: database.guard.damage,
            reconcile_errors=runtime.error_counts,
            deletions=desk,
            catalogue=catalogue,
            make_way=sync_process.cores.make_way,
            syncs=syncs,
        )
        server = HttpServer(services, options.connections)
        search_seldom()
        runtime.start()
        await state.until_listed()
        watching = asyncio.gather(
            DatabaseWatch(database.guard, clock, EmergencyStop(runtime, supervisor, hook_runs).stop).run(),
            CatalogueWatch(catalogue, clock, syncs, desk, sync_process.restart).run(),
        )
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            _greet(url_of(listener), data_dir, services.page)
            await _first_of(serving, stop)
        finally:
            # Side by side, because both may take seconds: clients end their requests, movers clean up.
            # The reconcilers stop before the movers do: what was in progress stays so, and the next start tells it.
            server.stop()
            await asyncio.gather(serving, _ended(watching), _end_work(runtime, supervisor, hooks, syncs))
            await sync_process.close()
            await children.close()
    finally:
        closing.close()
        await database.close()
    log.info("server stopped")


async def _end_work(runtime: Runtime, supervisor: MoverSupervisor, hooks: HookFiles, syncs: CatalogueSync) -> None:
    await runtime.stop()
    await syncs.close()
    hooks.close()
    await supervisor.close()


async def _ended(watching: "asyncio.Future[Any]") -> None:
    """End it. What came of it is of no use any more, but an exception that nothing reads leaves an error in the log."""
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)


async def _first_of(serving: "asyncio.Task[None]", stop: asyncio.Event) -> None:
    """Return when a signal came, or when HTTP ended by itself, which it should not."""
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopping}, return_when="FIRST_COMPLETED")
    stopping.cancel()


def _greet(url: str, data_dir: DataDir, page: PageFiles) -> None:
    """Let the CLI, the log and a person find the server."""
    data_dir.announce(url)
    log.info("server ready", url=url, data_dir=str(data_dir.path), version=__version__)
    if page.start is None:
        log.info("no web page", how=NO_PAGE.strip())
    if sys.stderr.isatty():
        here = "" if page.start is None else f"  Open it in a browser; it asks for the token in {data_dir.token_file}\n"
        sys.stderr.write(
            f"\n  Tidegate {__version__} is ready at {url}\n{here}"
            f"  In another terminal: {sys.argv[0]} --data-dir {data_dir.path} volume get\n"
            "  Ctrl-C here stops the server.\n\n"
        )


def _stop_signal() -> asyncio.Event:
    """Set by the first SIGINT or SIGTERM; a second one ends the process at once, as it would without us."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        log.info("stopping", signal=number.name)
        stop.set()
        loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number)
    return stop

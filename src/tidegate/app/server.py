"""The process `tidegate server`: opens its platform, builds the server on it, and serves until a signal comes."""

import asyncio
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import structlog

import tidegate
from tidegate import __version__
from tidegate.api.page_files import PageFiles, read_page
from tidegate.api.routes.page import NO_PAGE
from tidegate.api.security.sessions import Sessions
from tidegate.api.services import Services
from tidegate.app.http.server import HttpServer, listening_socket, url_of
from tidegate.app.machine.collector import search_seldom
from tidegate.app.machine.data_dir import DataDir
from tidegate.app.one_machine import OneMachine, one_machine
from tidegate.app.options import ServerOptions
from tidegate.app.platform import Platform
from tidegate.app.wiring import Work, build_work

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
    async with one_machine(data_dir, options) as machine:
        await _run(machine, data_dir, listener, options, stop)
    log.info("server stopped")


async def _run(
    machine: OneMachine, data_dir: DataDir, listener: socket.socket, options: ServerOptions, stop: asyncio.Event
) -> None:
    work = build_work(machine.platform)
    await work.desk.hide_all()
    services = _services(machine.platform, work, options)
    server = HttpServer(services, options.connections)
    search_seldom()
    work.runtime.start()
    await machine.platform.state.until_listed()
    watching = asyncio.gather(*(watch.run() for watch in machine.watches(work)))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        _greet(url_of(listener), data_dir, services.page)
        await _first_of(serving, stop)
    finally:
        # Side by side, because both may take seconds: clients end their requests, movers clean up.
        # The reconcilers stop before the movers do: what was in progress stays so, and the next start tells it.
        server.stop()
        await asyncio.gather(serving, _ended(watching), _end_work(work, machine))


def _services(platform: Platform, work: Work, options: ServerOptions) -> Services:
    entrance, catalogues = platform.entrance, platform.catalogues
    assert entrance is not None  # noqa: S101  # a platform that serves has one
    return Services(
        state=platform.state,
        clock=platform.clock,
        volume_probe=platform.volume_probe,
        store_probe=platform.store_probe,
        secrets=platform.secrets,
        hooks=platform.hooks,
        notifier=platform.notifier,
        archives=platform.archives,
        restore_plans=work.plans,
        trees=platform.trees,
        token_is_good=entrance.token_is_good,
        sessions=Sessions(entrance.session_key, entrance.ended_sessions),
        accounts=entrance.accounts,
        audit=entrance.audit,
        trusted_proxies=options.connections.trusted_proxies,
        hosts=options.hosts | {options.host.lower(), socket.gethostname().lower()},
        open_metrics=options.open_metrics,
        page=read_page(_PAGE),
        version=__version__,
        damage=platform.damage,
        reconcile_errors=work.runtime.error_counts,
        deletions=work.desk,
        catalogue=catalogues.catalogue if catalogues else None,
        make_way=catalogues.make_way if catalogues else lambda: None,
        syncs=work.syncs,
    )


async def _end_work(work: Work, machine: OneMachine) -> None:
    await work.runtime.stop()
    if work.syncs is not None:
        await work.syncs.close()
    machine.end_hooks()
    await work.movers.close()


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

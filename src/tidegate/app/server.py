"""The process `tidegate server`: everything on one machine, put together here."""

import asyncio
import contextlib
import errno
import socket
import sys
from types import FrameType

import structlog
import uvicorn

from tidegate import __version__
from tidegate.api.application import build_application
from tidegate.api.services import Services
from tidegate.app.child_movers import ChildMovers
from tidegate.app.clock import SystemClock
from tidegate.app.data_dir import DataDir, token_check
from tidegate.app.identity import new_id
from tidegate.app.options import ServerOptions
from tidegate.app.surroundings import LocalSurroundings
from tidegate.app.wiring import build_runtime
from tidegate.controllers.recovery import recover
from tidegate.errors import AlreadyExists, AlreadyRunning, InvalidInput
from tidegate.model.node import Node, NodeStatus
from tidegate.model.resource import Metadata
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.resources.sqlite import SqliteStore

log = structlog.get_logger(__name__)

# Open event streams get this long to end by themselves; the whole stop stays under five seconds.
_GRACE_SECONDS = 2


def run_server(options: ServerOptions) -> int:
    """Run until a signal says stop. Raises UserError before anything is changed if it cannot run."""
    data_dir = DataDir(options.data_dir)
    data_dir.take()
    try:
        with _listening_socket(options.host, options.port) as listener:
            asyncio.run(_serve(data_dir, listener))
    finally:
        data_dir.release()
    return 0


async def _serve(data_dir: DataDir, listener: socket.socket) -> None:
    clock = SystemClock()
    token = data_dir.token()
    store = await SqliteStore.open(data_dir.database, clock=clock, new_id=new_id)
    try:
        node = socket.gethostname().lower()
        await _register_node(store, clock, node)
        await recover(store, clock)
        surroundings = LocalSurroundings()
        runtime, supervisor = build_runtime(store, clock, ChildMovers(), node, surroundings)
        services = Services(
            store=store,
            clock=clock,
            surroundings=surroundings,
            token_is_good=token_check(token),
            version=__version__,
            reconcile_errors=runtime.error_counts,
        )
        server = _Server(services)
        runtime.start()
        host, port = listener.getsockname()[:2]
        url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        data_dir.announce(url)
        _greet(url, data_dir)
        try:
            await server.serve(sockets=[listener])
        finally:
            await runtime.stop()
            await supervisor.close()
            log.info("server stopped")
    finally:
        await store.close()


async def _register_node(store: ResourceStore, clock: Clock, name: str) -> None:
    """This machine is a node like any other: limits and reasons name it."""
    status = NodeStatus(ready=True, last_seen_at=clock.now())
    labels = {"kubernetes.io/hostname": name}
    with contextlib.suppress(AlreadyExists):
        await store.create(Node(metadata=Metadata(name=name, labels=labels), status=status))


class _Server(uvicorn.Server):
    """uvicorn, embedded; the same signal that stops it also ends the event streams it would wait for."""

    def __init__(self, services: Services) -> None:
        config = uvicorn.Config(
            build_application(services),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=_GRACE_SECONDS,
            server_header=False,
        )
        super().__init__(config)
        self._services = services

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Called in the main thread on SIGINT and SIGTERM."""
        super().handle_exit(sig, frame)
        self._services.shutting_down.set()


def _listening_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise AlreadyRunning(
                f"port {port} on {host} is already in use",
                hint="stop what listens there, or choose another with --listen HOST:PORT (port 0 takes a free one)",
            ) from None
        raise InvalidInput(f"cannot listen on {host}:{port}: {error.strerror or error}", field="listen") from None
    return listener


def _greet(url: str, data_dir: DataDir) -> None:
    log.info("server ready", url=url, data_dir=str(data_dir.path), version=__version__)
    if sys.stderr.isatty():
        sys.stderr.write(
            f"\n  Tidegate {__version__} is ready at {url}\n"
            f"  In another terminal: tidegate --data-dir {data_dir.path} volume get\n"
            "  Ctrl-C here stops the server.\n\n"
        )

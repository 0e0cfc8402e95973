"""HTTP, embedded: uvicorn on a socket of ours, without its own ideas about signals."""

import asyncio
import contextlib
import errno
import math
import resource
import socket
from collections.abc import Iterator
from functools import partial
from typing import Any, cast

import uvicorn

from tidegate.api.application import build_application
from tidegate.api.services import Services
from tidegate.app.http.connections import LARGEST_HEAD, Connection, Connections
from tidegate.decide.access.connections import ConnectionLimits
from tidegate.errors import AlreadyRunning, InvalidInput

# Open requests get this long to end by themselves; the whole stop of a server stays under five seconds.
_GRACE_SECONDS = 2
# A connection costs a descriptor and some memory; no server of backups has more honest clients.
_MOST_CONNECTIONS = 2000
# asyncio accepts so many before it looks whether there is room for one: each has a descriptor until then.
_ACCEPTED_AT_ONCE = 16
# So many may wait in the kernel, which costs no descriptor.
_WAITING_TO_BE_ACCEPTED = 1024
# uvicorn ticks ten times a second.
_TICKS_BETWEEN_LOOKS = 3


class HttpServer(uvicorn.Server):
    """Serves the API until `stop`."""

    def __init__(self, services: Services, limits: ConnectionLimits | None = None) -> None:
        self._connections = Connections(limits or ConnectionLimits(most_connections()))
        config = uvicorn.Config(
            build_application(services),
            # uvicorn only ever calls it.
            http=cast("Any", partial(Connection, self._connections)),
            ws="none",
            # It would believe everyone on this machine; api/security/proxy_headers.py believes named ones.
            proxy_headers=False,
            h11_max_incomplete_event_size=LARGEST_HEAD,
            backlog=_ACCEPTED_AT_ONCE,
            timeout_keep_alive=math.ceil(self._connections.limits.idle),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=_GRACE_SECONDS,
            server_header=False,
        )
        super().__init__(config)
        self._services = services

    def stop(self) -> None:
        """Take no more requests and end the event streams, for which uvicorn would wait."""
        self._services.shutting_down.set()
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Let more clients wait than are accepted at once: asyncio takes one number for both."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_WAITING_TO_BE_ACCEPTED)

    async def on_tick(self, counter: int) -> bool:
        """End what takes too long, now and then."""
        if counter % _TICKS_BETWEEN_LOOKS == 0:
            self._connections.end_overdue(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process: uvicorn would raise them again at its end and cut our own stop short."""
        yield


def most_connections() -> int:
    """How many connections leave descriptors for everything else: movers, databases, stores."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_CONNECTIONS if descriptors == resource.RLIM_INFINITY else min(_MOST_CONNECTIONS, descriptors // 2)


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket on which clients can already knock; raises UserError if it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Connections inherit it. Without it the end of each short answer waits 40 ms for the client's acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((host, port))
        listener.listen(_WAITING_TO_BE_ACCEPTED)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise AlreadyRunning(
                f"port {port} on {host} is already in use",
                hint="stop what listens there, or choose another with --listen HOST:PORT (port 0 takes a free one)",
            ) from None
        raise InvalidInput(f"cannot listen on {host}:{port}: {error.strerror or error}", field="listen") from None
    return listener


def url_of(listener: socket.socket) -> str:
    """Where clients reach it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

"""The connections of clients: how many there are, and which of them the server waits for no longer."""

import asyncio
import json
import logging
import sys
from collections import Counter
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from tidegate.decide.access.connections import (
    ConnectionLimits,
    ConnectionState,
    Phase,
    first_to_go,
    is_overdue,
    source_of,
)

log = logging.getLogger(__name__)

# The path of a file in a backup is long, and stands percent-encoded in the query.
LARGEST_HEAD = 64 * 1024
_FULL = "the server has as many connections as it takes"
_TOO_MANY = "there are too many connections from this address"
_NO_HTTP = "this is not a request that HTTP knows"
_LARGE_HEAD = f"path and headers of a request have at most {LARGEST_HEAD} bytes"
_SLOW_REQUEST = "the request did not arrive in time"
_SLOW_ANSWER = "the server has no answer yet; what was asked for may still happen"


class Connections:
    """All connections of one server. Keep them within its limits."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._open: dict[Connection, str] = {}
        self._by_source: Counter[str] = Counter()

    def refusal(self, address: str) -> str:
        """Why there is no room for one more from this address; empty if there is, or if an old one made room."""
        source = source_of(address)
        if self._by_source[source] >= self.limits.share_of(address):
            mine = [connection for connection, its_source in self._open.items() if its_source == source]
            return "" if self._make_room(mine) else _TOO_MANY
        if len(self._open) >= self.limits.most:
            return "" if self._make_room(list(self._open)) else _FULL
        return ""

    def add(self, connection: "Connection", source: str) -> None:
        """Count it."""
        self._open[connection] = source
        self._by_source[source] += 1

    def remove(self, connection: "Connection") -> None:
        """Count it no longer."""
        source = self._open.pop(connection, None)
        if source is not None:
            self._by_source[source] -= 1
            if not self._by_source[source]:
                del self._by_source[source]

    def end_overdue(self, now: float) -> None:
        """Close those that take too long."""
        for connection in list(self._open):
            state = connection.look(now)
            if is_overdue(state, now, self.limits):
                connection.end(state.phase)

    def _make_room(self, among: "list[Connection]") -> bool:
        now = asyncio.get_running_loop().time()
        place = first_to_go([connection.look(now) for connection in among], now)
        if place is None:
            return False
        # At once, not when the client agrees: it is the descriptor that is needed.
        among[place].transport.abort()
        self.remove(among[place])
        return True


class Connection(H11Protocol):
    """One connection, as uvicorn serves it, that knows how long it takes."""

    def __init__(self, connections: Connections, **wiring: Any) -> None:  # noqa: ANN401  # uvicorn's own
        super().__init__(**wiring)
        self._connections = connections
        self._reads_headers = True
        self._refused = False
        self._since = self._moved_at = self.loop.time()
        self._unsent = 0

    @property
    def state(self) -> ConnectionState:
        """What it does now."""
        return ConnectionState(self._phase(), self._since, self._moved_at)

    def look(self, now: float) -> ConnectionState:
        """The same, after a look at what the client took of the answer."""
        unsent = self.transport.get_write_buffer_size()
        # Of an answer with nothing left to send, the server owes the rest.
        if unsent < self._unsent or (not unsent and self._phase() is Phase.ANSWER):
            self._moved_at = now
        self._unsent = unsent
        return self.state

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        """Count it, or say why there is no room."""
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        refusal = self._connections.refusal(address)
        if refusal:
            log.warning("connection refused: %s", refusal)
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, refusal)
            self.transport.close()
            return
        self._connections.add(self, source_of(address))

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room."""
        self._connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Note that the client still speaks. What comes after a refusal is not heard."""
        if self._refused or self.transport.is_closing():
            return
        now = self.loop.time()
        self._moved_at = now
        if not self._at_work() and not self._reads_headers:
            self._reads_headers, self._since = True, now
        super().data_received(data)

    def handle_events(self) -> None:
        """Note when a request begins."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._reads_headers, self._since = False, self.loop.time()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # it says the same of all mistakes
        """Say what is wrong with bytes that are no request. uvicorn calls this where it finds out."""
        if self._at_work() and self.cycle.response_started:
            self.transport.abort()  # half an answer is out: another one behind it would be read as part of it
            return
        error = sys.exc_info()[1]
        hint = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else HTTPStatus.BAD_REQUEST
        if hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _LARGE_HEAD)
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, _NO_HTTP)

    def shutdown(self) -> None:
        """End with the server."""
        if self._refused:
            self.transport.close()
        else:
            super().shutdown()

    def on_response_complete(self) -> None:
        """Note when a request ends."""
        self._reads_headers, self._since = False, self.loop.time()
        super().on_response_complete()

    def end(self, phase: Phase) -> None:
        """Close it: with a word to a client that waits for one, without to one that does not take any."""
        if phase in {Phase.ANSWER, Phase.REFUSED} or self.transport.is_closing():
            self.transport.abort()
        elif phase is Phase.WORK:
            log.warning("a request took too long")
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, _SLOW_ANSWER)
            self.transport.close()
        elif phase is Phase.IDLE or (phase is Phase.HEADERS and not self.conn.trailing_data[0]):
            self.transport.close()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, _SLOW_REQUEST)

    def _phase(self) -> Phase:
        if self._refused:
            return Phase.REFUSED
        if self._at_work():
            if self.cycle.response_started:
                # An answer in one piece is complete when it begins: this one is a stream.
                return Phase.ANSWER
            return Phase.BODY if self.cycle.more_body else Phase.WORK
        if self.transport.get_write_buffer_size():
            return Phase.ANSWER
        return Phase.HEADERS if self._reads_headers else Phase.IDLE

    def _at_work(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # uvicorn says that it always has one
        return cycle is not None and not cycle.response_complete

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        """Answer, and wait a little until the client has read it: until it closes, or is overdue."""
        self._answer(status, detail)
        self._unset_keepalive_if_required()
        if self._at_work():
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._refused, self._since = True, self.loop.time()
        self.flow.resume_reading()
        self.transport.write_eof()

    def _answer(self, status: HTTPStatus, detail: str) -> None:
        document = {
            "type": "about:blank",
            "title": status.phrase,
            "status": status,
            "code": "Refused",
            "detail": detail,
            "message": detail,
        }
        body = json.dumps(document)
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/problem+json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n"
        )
        again = "Retry-After: 5\r\n" if status is HTTPStatus.SERVICE_UNAVAILABLE else ""
        self.transport.write(f"{head}{again}\r\n{body}".encode())

"""A real HTTP server that takes webhooks, or refuses them."""

import json
import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

_PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        """The body as JSON."""
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass
class WebhookReceiver:
    """Listens on a port of its own. Use it as a context manager."""

    answers: list[int] = field(default_factory=list)
    """The next statuses, in order; afterwards 204."""
    location: str = ""
    """Where an answer leads to, if it does."""
    hold: threading.Event | None = None
    """Nothing is answered until it is set."""
    tls: ssl.SSLContext | None = None
    """Speaks HTTPS with this."""
    received: "Queue[Received]" = field(default_factory=Queue)

    def __enter__(self) -> "WebhookReceiver":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        if self.tls is not None:
            self._server.socket = self.tls.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.hold is not None:
            self.hold.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self._server.server_port}"

    def next(self) -> Received:
        """The next request, now or when it comes."""
        return self.received.get(timeout=_PATIENCE_SECONDS)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.put(Received(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                if receiver.hold is not None:
                    receiver.hold.wait(_PATIENCE_SECONDS)
                self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Quiet."""

        return Handler

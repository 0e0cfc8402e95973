"""What is wrong with a request before anything of it is understood."""

from collections.abc import Iterable
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidegate.api.problems import problem
from tidegate.api.services import Services
from tidegate.decide.access.hosts import is_known_host

Headers = list[tuple[bytes, bytes]]


class RequestHead:
    """Refuse requests to a host that this server is not, and those whose length two headers tell.

    A name of a stranger that points to this machine would let a page of theirs ask us as if it were ours; and where two
    headers tell a length, a proxy may believe the other one and take the rest for a request of somebody else.
    """

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is fine."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: Headers = scope["headers"]
        names = {name.lower() for name, _ in headers}
        if {b"content-length", b"transfer-encoding"} <= names:
            detail = "a request has either Content-Length or Transfer-Encoding, not both"
            answer = problem(HTTPStatus.BAD_REQUEST, "InvalidInput", detail)
            answer.headers["Connection"] = "close"  # nobody knows where the next request begins
            await answer(scope, receive, send)
            return
        unknown = self._unknown_host(headers)
        if unknown is not None:
            detail = f"this server is not known as {unknown!r}"
            hint = "call it by its address, or name the host with --allowed-hosts when it starts"
            await problem(HTTPStatus.MISDIRECTED_REQUEST, "Refused", detail, hint=hint)(scope, receive, send)
            return

        async def within(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": list(_without_own_address(scope, message["headers"]))}
            await send(message)

        await self._app(scope, receive, within)

    def _unknown_host(self, headers: Headers) -> str | None:
        known = self._services.hosts
        if known is None:
            return None
        hosts = (value.decode("latin-1") for name, value in headers if name.lower() == b"host")
        return next((host[:100] for host in hosts if not is_known_host(host, known)), None)


def _without_own_address(scope: Scope, headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[bytes, bytes]]:
    """Redirects lead to a path: where a client or a proxy believes to be is nothing that the server could know."""
    hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
    own = [f"{scope['scheme']}://".encode() + host for host in hosts]
    for name, value in headers:
        if name.lower() == b"location":
            yield name, next((value[len(one) :] or b"/" for one in own if value.startswith(one)), value)
        else:
            yield name, value

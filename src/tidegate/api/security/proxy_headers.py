"""What proxies say of a client, believed of trusted proxies only."""

from starlette.types import ASGIApp, Receive, Scope, Send

from tidegate.api.services import Services
from tidegate.decide.access.forwarded import FORWARDING_HEADERS, client_behind, is_within, scheme_told


class ProxyHeaders:
    """Give every request the client that really asks, and only those forwarding headers that a trusted proxy set."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass it on as it would be without a proxy."""
        if scope["type"] == "http":
            scope = self._seen_through(scope)
        await self._app(scope, receive, send)

    def _seen_through(self, scope: Scope) -> Scope:
        peer, port = scope.get("client") or ("", 0)
        if not is_within(peer, self._services.trusted_proxies):
            kept = [one for one in scope["headers"] if one[0].decode("latin-1").lower() not in FORWARDING_HEADERS]
            return {**scope, "headers": kept}
        forwarded = _joined(scope, b"forwarded")
        address = client_behind(
            peer,
            forwarded_for=_joined(scope, b"x-forwarded-for"),
            forwarded=forwarded,
            trusted=self._services.trusted_proxies,
        )
        scheme = scheme_told(_joined(scope, b"x-forwarded-proto"), forwarded) or scope["scheme"]
        return {**scope, "client": (address, port if address == peer else 0), "scheme": scheme}


def _joined(scope: Scope, name: bytes) -> str:
    """A header that may come in several lines."""
    return ",".join(value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name)

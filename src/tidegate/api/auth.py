"""Who may call."""

import binascii
from base64 import b64decode

from fastapi import Request

from tidegate.api.services import Services
from tidegate.errors import Unauthenticated

_HINT = "send 'Authorization: Bearer TOKEN'; the server's token is in admin.token in its data directory"


def services_of(request: Request) -> Services:
    """The services that the application was built with."""
    services = request.app.state.services
    assert isinstance(services, Services)  # noqa: S101  # put there by build_application
    return services


async def require_token(request: Request) -> None:
    """Let the call through, or raise Unauthenticated. The sentence never repeats what was sent."""
    token = _token_in(request.headers.get("authorization", ""))
    if not token:
        raise Unauthenticated("this call needs a token", hint=_HINT)
    if not services_of(request).token_is_good(token):
        raise Unauthenticated("the token is not valid", hint=_HINT)


def _token_in(header: str) -> str:
    """The token as such, or as the password of anybody: clients made for Longhorn can send nothing but Basic."""
    scheme, _, given = header.partition(" ")
    if scheme.lower() != "basic":
        return given.strip() if scheme.lower() == "bearer" else ""
    try:
        _user, _, password = b64decode(given.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
    return password

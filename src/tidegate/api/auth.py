"""Who may call."""

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
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if not token:
        raise Unauthenticated("this call needs a token", hint=_HINT)
    if scheme.lower() != "bearer" or not services_of(request).token_is_good(token.strip()):
        raise Unauthenticated("the token is not valid", hint=_HINT)

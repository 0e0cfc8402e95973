"""Who may call: whoever shows the token, or a browser whose session began with it."""

import binascii
from base64 import b64decode
from urllib.parse import urlsplit

from fastapi import Request

from tidegate.api.services import Services
from tidegate.errors import Forbidden, Unauthenticated

_HINT = "send 'Authorization: Bearer TOKEN'; the server's token is in admin.token in its data directory"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
# A form or a link of another site cannot set it, and a script of another site would have to ask us first.
CSRF_HEADER = "x-tidegate-csrf"


def services_of(request: Request) -> Services:
    """The services that the application was built with."""
    services = request.app.state.services
    assert isinstance(services, Services)  # noqa: S101  # put there by build_application
    return services


async def require_token(request: Request) -> None:
    """Let the call through, or raise Unauthenticated. The sentence never repeats what was sent."""
    header = request.headers.get("authorization", "")
    if not header and _has_session(request):
        _require_own_page(request)
        return
    token = _token_in(header)
    if not token:
        raise Unauthenticated("this call needs a token", hint=_HINT)
    if not services_of(request).token_is_good(token):
        raise Unauthenticated("the token is not valid", hint=_HINT)


def require_same_origin(request: Request) -> None:
    """Refuse what a page of another site made the browser send. Clients that are no browsers send neither header."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    # The browser's own word counts where it gives one: a proxy may have changed the host that we see.
    own = (
        site in {"same-origin", "none"}
        if site
        else not origin or urlsplit(origin).netloc == request.headers.get("host")
    )
    if not own:
        raise Forbidden("this request comes from a page of another site", hint="use the page that this server serves")


def _has_session(request: Request) -> bool:
    services = services_of(request)
    cookie = request.cookies.get(services.sessions.cookie_name)
    return cookie is not None and services.sessions.is_good(cookie, services.clock.now())


def _require_own_page(request: Request) -> None:
    """Browsers send cookies by themselves, so a cookie alone does not show that anybody wanted the change."""
    if request.method in _READING:
        return
    require_same_origin(request)
    if not request.headers.get(CSRF_HEADER):
        raise Forbidden(
            "a session may change something only with the header X-Tidegate-CSRF",
            hint="send the header, or use the token instead of a cookie",
        )


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

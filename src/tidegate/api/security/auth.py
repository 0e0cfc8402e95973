"""Who is asking, and whether they may: by a token, or by a browser's session that began with a token or a password."""

import binascii
from base64 import b64decode
from urllib.parse import urlsplit

from fastapi import Request

from tidegate.api.security.sessions import Holder
from tidegate.api.security.trail import trail_of
from tidegate.api.services import Services
from tidegate.decide.access.roles import READING_METHODS, need_of, refusal
from tidegate.errors import Forbidden, Unauthenticated
from tidegate.model.access.access import THE_OWNER, Caller, Via

_HINT = "send 'Authorization: Bearer TOKEN'; the owner's token is in admin.token in the server's data directory"
# A form or a link of another site cannot set it, and a script of another site would have to ask us first.
CSRF_HEADER = "x-tidegate-csrf"


def services_of(request: Request) -> Services:
    """The services that the application was built with."""
    services = request.app.state.services
    assert isinstance(services, Services)  # noqa: S101  # put there by build_application
    return services


async def require_token(request: Request) -> None:
    """Let the call through, or raise Unauthenticated or Forbidden. The sentence never repeats what was sent.

    Every route asks here, and what a role may do is told by `decide.roles` for all of them.
    """
    caller = caller_from(request)
    need = need_of(request.method, request.scope["path"].removeprefix("/v1"), request.query_params.getlist("action"))
    trail = trail_of(request)
    trail.caller, trail.told = caller, not need.reads
    if not request.headers.get("authorization"):
        _require_own_page(request)
    refused = refusal(caller.role, need)
    if refused:
        raise Forbidden(refused, hint="ask somebody with that role, or log in as somebody else")


def caller_from(request: Request) -> Caller:
    """Who it is by what the request carries; raises Unauthenticated for nobody. Looks at memory only."""
    header = request.headers.get("authorization", "")
    caller = None if header else session_caller(request)
    if caller is not None:
        return caller
    token = _token_in(header)
    if not token:
        raise Unauthenticated("this call needs a token", hint=_HINT)
    caller = token_caller(services_of(request), token)
    if caller is None:
        raise Unauthenticated("the token is not valid, or no longer", hint=_HINT)
    return caller


def token_caller(services: Services, token: str) -> Caller | None:
    """Whose token it is: the owner's, or one that somebody made."""
    if services.token_is_good(token):
        return THE_OWNER
    if services.accounts is None:
        return None
    now = services.clock.now()
    caller = services.accounts.holder_of(token, now)
    if caller is not None:
        services.accounts.note_use(caller.name, now)
    return caller


def session_caller(request: Request) -> Caller | None:
    """Whose session the cookie is of, with the role that they have now; None if it is nobody's, or over."""
    services = services_of(request)
    now = services.clock.now()
    holder = services.sessions.read(request.cookies.get(services.sessions.cookie_name, ""), now)
    if holder is None or holder.via is Via.OWNER:
        return None if holder is None else THE_OWNER
    if services.accounts is None:
        return None
    caller = services.accounts.known(holder.name, token=holder.via is Via.TOKEN, now=now)
    return caller if caller is not None and services.accounts.stamp_of(caller) == holder.stamp else None


def holder_for(services: Services, caller: Caller) -> Holder:
    """What a session of theirs has to remember."""
    stamp = services.accounts.stamp_of(caller) if services.accounts and caller.via is not Via.OWNER else None
    return Holder(caller.via, caller.name, stamp or "")


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


def _require_own_page(request: Request) -> None:
    """Browsers send cookies by themselves, so a cookie alone does not show that anybody wanted the change."""
    if request.method in READING_METHODS:
        return
    require_same_origin(request)
    if not request.headers.get(CSRF_HEADER):
        raise Forbidden(
            "a session may change something only with the header X-Tidegate-CSRF",
            hint="send the header, or use the token instead of a cookie",
        )


def _token_in(header: str) -> str:
    """The token as such, or as the password of anybody: clients made for Longhorn can send nothing but Basic.

    A user's password is not taken here: it would have to be hashed for every request, which is slow on purpose.
    """
    scheme, _, given = header.partition(" ")
    if scheme.lower() != "basic":
        return given.strip() if scheme.lower() == "bearer" else ""
    try:
        _user, _, password = b64decode(given.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
    return password

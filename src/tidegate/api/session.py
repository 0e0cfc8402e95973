"""Logging in and out, and who one is: what a browser needs in place of a token in each request."""

from typing import Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from tidegate.api.auth import require_same_origin, require_token, services_of
from tidegate.api.sessions import LIFETIME
from tidegate.errors import Unauthenticated
from tidegate.model.frozen import Model

router = APIRouter(tags=["session"])


class Login(Model):
    """What somebody shows at the door."""

    token: str = Field(min_length=1, max_length=4096)


class Session(Model):
    """Who is asking, and what they may do."""

    user: str
    role: Literal["viewer", "operator", "admin"]


# There is one token yet, and it is the administrator's.
_ADMIN = Session(user="admin", role="admin")


@router.post("/login")
async def login(request: Request, response: Response, given: Login) -> Session:
    """Take a token and give a cookie that no script can read and no other site can send."""
    require_same_origin(request)
    services = services_of(request)
    now = services.clock.now()
    place = request.client.host if request.client else ""
    if not services.logins.check(place, now, lambda: services.token_is_good(given.token.strip())):
        raise Unauthenticated(
            "the token is not valid", hint="the server's token is in admin.token in its data directory"
        )
    response.set_cookie(
        services.sessions.cookie_name,
        services.sessions.issue(now),
        max_age=int(LIFETIME.total_seconds()),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return _ADMIN


@router.post("/logout", status_code=204)
async def logout(request: Request) -> Response:
    """Take the cookie back."""
    require_same_origin(request)
    response = Response(status_code=204)
    response.delete_cookie(services_of(request).sessions.cookie_name, httponly=True, samesite="strict")
    return response


@router.get("/session", dependencies=[Depends(require_token)])
async def session() -> Session:
    """Who one is: 401 tells a page to ask for a login."""
    return _ADMIN

"""Logging in and out, and who one is: what a browser needs in place of a token in each request."""

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from tidegate.api.auth import (
    holder_for,
    require_same_origin,
    require_token,
    services_of,
    session_caller,
    token_caller,
)
from tidegate.api.services import Services
from tidegate.api.sessions import LIFETIME
from tidegate.api.trail import caller_of, trail_of
from tidegate.errors import InvalidInput, TooManyAttempts, Unauthenticated
from tidegate.model.access import LONGEST_PASSWORD, Caller, Role
from tidegate.model.frozen import Model
from tidegate.model.names import LONGEST_LABEL

router = APIRouter(tags=["session"])


class Login(Model):
    """What somebody shows at the door: a token, or a name and a password."""

    token: str = Field(default="", max_length=4096, repr=False)
    user: str = Field(default="", max_length=LONGEST_LABEL)
    password: str = Field(default="", max_length=LONGEST_PASSWORD, repr=False)


class Session(Model):
    """Who is asking, and what they may do."""

    user: str
    role: Role


@router.post("/login")
async def login(request: Request, response: Response, given: Login) -> Session:
    """Take a token, or a name and a password, and give a cookie that no script can read and no other site can send."""
    require_same_origin(request)
    if bool(given.token) == bool(given.user):
        raise InvalidInput("give a token, or a user and a password", field="token")
    services = services_of(request)
    trail = trail_of(request)
    trail.claimed, trail.told = given.user or "a token", True
    try:
        caller = await _let_in(request, services, given)
    except TooManyAttempts:
        trail.told = False  # who floods the door must not flood the audit
        raise
    trail.caller = caller
    now = services.clock.now()
    response.set_cookie(
        services.sessions.cookie_name,
        services.sessions.issue(holder_for(services, caller), now),
        max_age=int(LIFETIME.total_seconds()),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return Session(user=caller.name, role=caller.role)


async def _let_in(request: Request, services: Services, given: Login) -> Caller:
    now = services.clock.now()
    place = f"from {request.client.host if request.client else ''}"
    keys = (place, f"user {given.user}") if given.user else (place,)
    services.logins.begin(keys, now)
    if given.token:
        caller = token_caller(services, given.token.strip())
        refused = "the token is not valid, or no longer"
    else:
        caller = await services.accounts.user_with(given.user, given.password, now) if services.accounts else None
        refused = "this user and this password do not open the door"
    if caller is None:
        raise Unauthenticated(refused, hint="the owner's token is in admin.token in the server's data directory")
    services.logins.succeed(keys)
    return caller


@router.post("/logout", status_code=204)
async def logout(request: Request) -> Response:
    """Take the cookie back."""
    require_same_origin(request)
    trail = trail_of(request)
    trail.caller = session_caller(request)
    trail.told = trail.caller is not None
    response = Response(status_code=204)
    response.delete_cookie(services_of(request).sessions.cookie_name, httponly=True, samesite="strict")
    return response


@router.get("/session", dependencies=[Depends(require_token)])
async def session(request: Request) -> Session:
    """Who one is: 401 tells a page to ask for a login."""
    caller = caller_of(request)
    return Session(user=caller.name, role=caller.role)

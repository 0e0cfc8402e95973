"""Logging in and out, and who one is: what a browser needs in place of a token in each request."""

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from tidegate.api.problems import refusals
from tidegate.api.security.auth import (
    holder_for,
    require_same_origin,
    require_token,
    services_of,
    session_caller,
    token_caller,
)
from tidegate.api.security.sessions import LIFETIME
from tidegate.api.security.trail import caller_of, trail_of
from tidegate.api.services import Services
from tidegate.decide.access.connections import source_of
from tidegate.errors import Forbidden, InvalidInput, NotFound, TooManyAttempts, Unauthenticated
from tidegate.model.access.access import LONGEST_PASSWORD, Caller, Password, Role, UserChange, Via
from tidegate.model.frozen import Model
from tidegate.model.names import LONGEST_LABEL

router = APIRouter(tags=["session"])

_WHERE = "the owner's token is in admin.token in the server's data directory"


class Login(Model):
    """What somebody shows at the door: a token, or a name and a password."""

    token: str = Field(default="", max_length=4096, repr=False)
    user: str = Field(default="", max_length=LONGEST_LABEL)
    password: str = Field(default="", max_length=LONGEST_PASSWORD, repr=False)


class OwnPassword(Model):
    """A user's own wish for another password; the one they have is what lets them."""

    user: str = Field(min_length=1, max_length=LONGEST_LABEL)
    password: str = Field(max_length=LONGEST_PASSWORD, repr=False)
    new_password: Password = Field(repr=False)


class Session(Model):
    """Who is asking, and what they may do."""

    user: str
    role: Role
    via: Via
    """What they came in with; a user has a password that they can change."""


@router.post("/login", responses=refusals(Unauthenticated, Forbidden, TooManyAttempts))
async def login(request: Request, response: Response, given: Login) -> Session:
    """Take a token, or a name and a password, and give a cookie that no script can read and no other site can send."""
    require_same_origin(request)
    if bool(given.token.strip()) == bool(given.user):
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
    return _open_session(request, response, caller)


@router.post("/password", responses=refusals(Forbidden, NotFound, TooManyAttempts))
async def change_own_password(request: Request, response: Response, given: OwnPassword) -> Session:
    """Change one's own password by showing the old one; every other session of this user is over, this one goes on."""
    require_same_origin(request)
    services = services_of(request)
    trail = trail_of(request)
    trail.claimed, trail.told = given.user, True
    if given.new_password == given.password:
        raise InvalidInput("the new password is the old one", field="newPassword", hint="choose another")
    try:
        caller = await _let_in(request, services, Login(user=given.user, password=given.password))
    except TooManyAttempts:
        trail.told = False
        raise
    except Unauthenticated:
        # Not 401: the session of who mistypes the old password is as good as before.
        raise InvalidInput("this is not the password that this user has now", field="password") from None
    trail.caller, trail.note = caller, "own password"
    assert services.accounts is not None  # noqa: S101  # a user was let in by them
    await services.accounts.change_user(caller.name, UserChange(password=given.new_password), services.clock.now())
    opened = _open_session(request, response, caller)
    services.access_bell.ring()
    return opened


def _open_session(request: Request, response: Response, caller: Caller) -> Session:
    services = services_of(request)
    response.set_cookie(
        services.sessions.cookie_name,
        services.sessions.issue(holder_for(services, caller), services.clock.now()),
        max_age=int(LIFETIME.total_seconds()),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return Session(user=caller.name, role=caller.role, via=caller.via)


async def _let_in(request: Request, services: Services, given: Login) -> Caller:
    now = services.clock.now()
    address = source_of(request.client.host if request.client else "")
    if given.token:
        # A right token gets in however many wrong ones came before it: nobody guesses one, so letting it in early
        # tells nobody anything, and to hold it back would let anybody at this address keep the owner out.
        caller = token_caller(services, given.token.strip())
        if caller is None:
            services.logins.begin((f"token from {address}",), now)
            raise Unauthenticated("the token is not valid, or no longer", hint=_WHERE)
        return caller
    # A right password waits like a wrong one: it can be guessed, and an answer to it is all that a guesser wants.
    keys = (f"password from {address}", f"user {given.user}")
    services.logins.begin(keys, now)
    caller = await services.accounts.user_with(given.user, given.password, now) if services.accounts else None
    if caller is None:
        raise Unauthenticated("this user and this password do not open the door", hint=_WHERE)
    services.logins.succeed(keys)
    return caller


@router.post("/logout", status_code=204, responses=refusals(Forbidden))
async def logout(request: Request) -> Response:
    """End the session: from now on its cookie opens nothing, wherever a copy of it may be."""
    require_same_origin(request)
    services = services_of(request)
    trail = trail_of(request)
    trail.caller = session_caller(request)
    trail.told = trail.caller is not None
    name = services.sessions.cookie_name
    await services.sessions.end(request.cookies.get(name, ""), services.clock.now())
    services.access_bell.ring()
    response = Response(status_code=204)
    response.delete_cookie(name, httponly=True, samesite="strict")
    return response


@router.get("/session", dependencies=[Depends(require_token)])
async def session(request: Request) -> Session:
    """Who one is: 401 tells a page to ask for a login."""
    caller = caller_of(request)
    return Session(user=caller.name, role=caller.role, via=caller.via)

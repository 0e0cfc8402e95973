"""`/v1/tokens` and `/v1/users`: who may come in. No answer carries a secret, but for the one that makes a token."""

from collections.abc import Sequence

from fastapi import APIRouter, Depends, Request, Response

from tidegate.api.reads.presenting import Wire
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.security.trail import caller_of, trail_of
from tidegate.errors import InvalidInput, Refused
from tidegate.model.access.access import AccessToken, IssuedToken, NewToken, NewUser, User, UserChange
from tidegate.model.frozen import Model
from tidegate.ports.accounts import Accounts

router = APIRouter(tags=["access"], dependencies=[Depends(require_token)])


@router.get("/tokens")
async def list_tokens(request: Request) -> Wire:
    """All tokens by name, without the tokens themselves."""
    return _collection("token", _accounts(request).tokens())


@router.post("/tokens", status_code=201, response_model_exclude_none=True)
async def create_token(request: Request, wanted: NewToken, response: Response) -> IssuedToken:
    """Make a token. The answer is the only place where it is ever told."""
    now = services_of(request).clock.now()
    if wanted.expires_at is not None and wanted.expires_at <= now:
        raise InvalidInput("expiresAt is over already", field="expiresAt", hint="give a time to come, or none")
    record = AccessToken(
        name=wanted.name,
        role=wanted.role,
        created_at=now,
        created_by=caller_of(request).title,
        expires_at=wanted.expires_at,
    )
    _tell(request, wanted.name, f"role {wanted.role}")
    secret = await _accounts(request).make_token(record)
    response.headers["Cache-Control"] = "no-store"
    return IssuedToken(token=secret, record=record)


@router.delete("/tokens/{name}", status_code=204)
async def revoke_token(request: Request, name: str) -> Response:
    """From now on it opens nothing, and the sessions that began with it are over."""
    await _accounts(request).revoke_token(name)
    services_of(request).access_bell.ring()
    return Response(status_code=204)


@router.get("/users")
async def list_users(request: Request) -> Wire:
    """All users by name."""
    return _collection("user", _accounts(request).users())


@router.post("/users", status_code=201, response_model_exclude_none=True)
async def create_user(request: Request, wanted: NewUser) -> User:
    """Let somebody in who shows this password."""
    now = services_of(request).clock.now()
    user = User(
        name=wanted.name,
        role=wanted.role,
        created_at=now,
        created_by=caller_of(request).title,
        password_changed_at=now,
    )
    _tell(request, wanted.name, f"role {wanted.role}")
    await _accounts(request).make_user(user, wanted.password)
    return user


@router.put("/users/{name}", response_model_exclude_none=True)
async def change_user(request: Request, name: str, change: UserChange) -> User:
    """Change role, password or whether they may come in; a new password or `disabled` ends their sessions at once."""
    told = [f"role {change.role}" if change.role else "", "password" if change.password else ""]
    if change.disabled is not None:
        told.append("disabled" if change.disabled else "enabled")
    trail_of(request).note = ", ".join(filter(None, told))
    changed = await _accounts(request).change_user(name, change, services_of(request).clock.now())
    services_of(request).access_bell.ring()
    return changed


@router.delete("/users/{name}", status_code=204)
async def delete_user(request: Request, name: str) -> Response:
    """They cannot come in any more, and their sessions are over."""
    await _accounts(request).delete_user(name)
    services_of(request).access_bell.ring()
    return Response(status_code=204)


def _accounts(request: Request) -> Accounts:
    accounts = services_of(request).accounts
    if accounts is None:
        raise Refused("this server keeps no accounts")
    return accounts


def _tell(request: Request, subject: str, note: str) -> None:
    trail = trail_of(request)
    trail.subject, trail.note = subject, note


def _collection(kind: str, found: Sequence[Model]) -> Wire:
    return {
        "type": "collection",
        "resourceType": kind,
        "data": [one.to_wire() for one in found],
        "links": {},
        "actions": {},
        "pagination": {"limit": len(found), "next": None},
    }

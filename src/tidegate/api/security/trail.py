"""The trail that a request leaves: filled in by those who learn something, written down when the answer is known."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urlencode

import structlog
from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidegate.api.services import Services
from tidegate.decide.access.roles import READING_METHODS
from tidegate.errors import TidegateError
from tidegate.model.access.access import REQUESTED_BY, Caller
from tidegate.model.access.audit import LONGEST_TEXT, AuditEntry
from tidegate.model.resource import Resource
from tidegate.model.setting import Setting, effective_settings

R = TypeVar("R", bound=Resource)
log = structlog.get_logger(__name__)

_FORGETTING_EVERY = timedelta(hours=1)


@dataclass
class Trail:
    """What is known of one request so far."""

    caller: Caller | None = None
    claimed: str = ""
    """The name that somebody gave who was not let in."""
    told: bool = False
    """Whether it belongs into the audit."""
    subject: str = ""
    """What was made, where the path does not name it."""
    note: str = ""


def trail_of(request: Request) -> Trail:
    """The trail of this request."""
    trail = getattr(request.state, "trail", None)
    if not isinstance(trail, Trail):
        trail = request.state.trail = Trail()
    return trail


def caller_of(request: Request) -> Caller:
    """Who asks; only for routes that let nobody in without knowing."""
    caller = trail_of(request).caller
    assert caller is not None  # noqa: S101  # require_token has let it through
    return caller


def requested_by(job: R, who: str) -> R:
    """The job with the name of who asked for it, whatever the client had written there."""
    return job.with_metadata(annotations={**job.metadata.annotations, REQUESTED_BY: who})


def name_made(request: Request, resource: Resource) -> None:
    """Name what this request makes."""
    trail_of(request).subject = resource.name if not resource.namespace else f"{resource.namespace}/{resource.name}"


class AuditTrail:
    """Writes every change into the audit before its answer is sent: who has the answer finds the entry."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services
        self._forgotten_at: datetime | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it pass, and look at the status on its way back."""
        if scope["type"] != "http" or scope["method"] in READING_METHODS:
            await self._app(scope, receive, send)
            return
        trail = Trail()
        scope["state"] = {**scope.get("state", {}), "trail": trail}
        answered = False

        async def noted(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start" and not answered:
                answered = True
                await self._note(trail, scope, int(message["status"]))
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception:
            if not answered:
                await self._note(trail, scope, HTTPStatus.INTERNAL_SERVER_ERROR)
            raise

    async def _note(self, trail: Trail, scope: Scope, status: int) -> None:
        audit = self._services.audit
        if audit is None or not trail.told:
            return
        now = self._services.clock.now()
        try:
            await audit.append(_entry(trail, Request(scope), status, now))
            await self._forget(now)
        except TidegateError as error:
            # The change has been made: to answer that it failed would be a second mistake.
            log.warning("audit entry lost", reason=error.message, path=scope["path"], status=status)

    async def _forget(self, now: datetime) -> None:
        """Only here: what gets no entries does not grow."""
        if self._services.audit is None or (self._forgotten_at and now - self._forgotten_at < _FORGETTING_EVERY):
            return
        self._forgotten_at = now
        settings = effective_settings(list((await self._services.store.list(Setting)).items))
        await self._services.audit.forget_before(now - settings.audit_retention)


def _entry(trail: Trail, request: Request, status: int, now: datetime) -> AuditEntry:
    caller = trail.caller
    return AuditEntry(
        at=now,
        who=caller.name if caller else _cut(trail.claimed),
        via=caller.via if caller else None,
        role=caller.role if caller else None,
        address=request.client.host if request.client else "",
        method=request.method,
        what=_cut(_what(request, trail)),
        outcome=status,
        note=_cut(trail.note),
    )


def _cut(text: str) -> str:
    """What any database takes, whatever a client has sent."""
    return text[:LONGEST_TEXT].encode(errors="replace").decode()


def _what(request: Request, trail: Trail) -> str:
    """The path, with what was made and the parameters that change what a request means."""
    path = request.scope["path"].removeprefix("/v1/")
    subject = f"/{trail.subject}" if trail.subject else ""
    meant = [(key, value) for key, value in request.query_params.multi_items() if key in {"action", "name", "dryRun"}]
    return f"{path}{subject}" + (f"?{urlencode(meant)}" if meant else "")

"""Puts the API together."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from tidegate.api.document import completed
from tidegate.api.longhorn import schemas as longhorn_schemas
from tidegate.api.problems import on_bug, on_http_error, on_tidegate_error, on_validation_error
from tidegate.api.routes import (
    accounts,
    audit,
    backup_files,
    backuptargets,
    backupvolumes,
    catalogue,
    catalogue_selection,
    deletions,
    events,
    health,
    job_logs,
    load,
    notifications,
    page,
    pins,
    protection,
    queue,
    resources,
    restores,
    schedules,
    session,
    settings,
    systems,
    verifications,
)
from tidegate.api.security.body_limit import BodyLimit
from tidegate.api.security.proxy_headers import ProxyHeaders
from tidegate.api.security.request_head import RequestHead
from tidegate.api.security.text import require_whole_text
from tidegate.api.security.trail import AuditTrail
from tidegate.api.services import Services
from tidegate.errors import TidegateError


class _Api(FastAPI):
    """Describes every answer that it gives."""

    def openapi(self) -> dict[str, Any]:
        """Return the document, which is made once."""
        if not self.openapi_schema:
            self.openapi_schema = completed(super().openapi(), self.routes)
        return self.openapi_schema


def build_application(services: Services) -> FastAPI:
    """The ASGI application over these services."""
    # The interactive pages would load scripts from elsewhere; the document itself is at /openapi.json.
    app = _Api(title="Tidegate", version=services.version, docs_url=None, redoc_url=None)
    app.state.services = services
    app.router.routes.extend(_routes())
    app.add_exception_handler(TidegateError, on_tidegate_error)
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(Exception, on_bug)
    app.add_middleware(BodyLimit)
    app.add_middleware(AuditTrail, services=services)
    app.add_middleware(RequestHead, services=services)
    app.add_middleware(ProxyHeaders, services=services)  # the last is the first to see a request
    return app


@cache
def _routes() -> Sequence[BaseRoute]:
    """All routes, in the order in which they are tried.

    Putting them together takes a third of a second, so it is done once in a process: a route finds the services in its
    request and must keep nothing of an application.
    """
    v1 = APIRouter(prefix="/v1", dependencies=[Depends(require_whole_text)])
    v1.include_router(resources.build_router())
    v1.include_router(backuptargets.router)
    v1.include_router(backupvolumes.router)
    v1.include_router(systems.build_router())
    v1.include_router(catalogue.router)
    v1.include_router(catalogue_selection.router)
    v1.include_router(settings.router)
    v1.include_router(queue.router)
    v1.include_router(load.router)
    v1.include_router(protection.router)
    v1.include_router(restores.router)
    v1.include_router(schedules.router)
    v1.include_router(verifications.router)
    v1.include_router(notifications.router)
    v1.include_router(pins.router)
    v1.include_router(job_logs.router)
    v1.include_router(backup_files.router)
    v1.include_router(deletions.router)
    v1.include_router(events.router)
    v1.include_router(health.versioned)
    v1.include_router(session.router)
    v1.include_router(accounts.router)
    v1.include_router(audit.router)
    every = APIRouter()
    every.include_router(v1)
    every.include_router(longhorn_schemas.router)
    every.include_router(health.router)
    every.include_router(page.router)  # last: it takes every path that nobody else has
    return tuple(every.routes)

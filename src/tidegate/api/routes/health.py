"""Is it alive, is it ready, what does it count. Probes have no token, and nothing that they hear is secret."""

from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import PlainTextResponse

from tidegate.api.problems import refusals
from tidegate.api.routes.metrics import render_metrics
from tidegate.api.security.auth import require_token, services_of
from tidegate.errors import Unauthenticated

router = APIRouter(tags=["health"])
_NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {"description": "Not ready, and why", "content": {"text/plain": {"schema": {"type": "string"}}}}
}
versioned = APIRouter(tags=["health"], dependencies=[Depends(require_token)])


@router.get("/livez", response_class=PlainTextResponse)
async def livez() -> str:
    """Answering at all shows that the event loop turns."""
    return "ok\n"


@router.get("/readyz", response_class=PlainTextResponse, responses=_NOT_READY)
async def readyz(request: Request) -> Response:
    """Ready when everything that is stored was read and we are not on the way out."""
    services = services_of(request)
    if services.shutting_down.is_set():
        return PlainTextResponse("shutting down\n", status_code=503)
    if (damage := services.damage()) is not None:
        return PlainTextResponse(f"{damage.message}\n{damage.hint}\n", status_code=503)
    if unread := services.state.unread:
        return PlainTextResponse(f"not read yet: {', '.join(unread)}\n", status_code=503)
    return PlainTextResponse("ok\n")


@router.get("/metrics", response_class=PlainTextResponse, responses=refusals(Unauthenticated))
async def metrics(request: Request) -> Response:
    """Prometheus text, counted from the store at this moment. It tells names, so it needs a token, as all that does."""
    if not services_of(request).open_metrics:
        await require_token(request)
    body, content_type = await render_metrics(services_of(request))
    return Response(body, media_type=content_type)


@versioned.get("/version", tags=["health"])
async def version(request: Request) -> dict[str, str]:
    """Which server this is."""
    return {"version": services_of(request).version}

"""No request body may be larger than what any honest client sends."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 2 * 1024 * 1024


class BodyLimit:
    """Refuses a body as soon as it grows too large, whatever its Content-Length claimed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the bytes on their way in; whoever reads too many of them is told by an exception."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > LARGEST_BODY:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {LARGEST_BODY} bytes")
            return message

        await self._app(scope, counted, send)

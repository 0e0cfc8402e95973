"""No request body may be larger than what any honest client sends."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidegate.api.problems import problem

LARGEST_BODY = 2 * 1024 * 1024


class _TooLarge(Exception):  # never leaves this file
    pass


class BodyLimit:
    """Answers 413 as soon as a body grows too large, whatever its Content-Length claimed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the bytes on their way in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > LARGEST_BODY:
                raise _TooLarge
            return message

        try:
            await self._app(scope, counted, send)
        except _TooLarge:
            response = problem(413, "InvalidInput", f"the body is larger than {LARGEST_BODY} bytes")
            await response(scope, receive, send)

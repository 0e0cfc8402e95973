"""A way to an application that lets no answer pass which its own description does not know."""

import re
from typing import Any

import httpx2
from fastapi import FastAPI


class UndocumentedAnswer(AssertionError):
    """The document at /openapi.json does not say that this call answers so."""


class DocumentedTransport(httpx2.ASGITransport):
    """Calls the application without a network. Every test that uses it also checks the document."""

    def __init__(self, app: FastAPI, **options: Any) -> None:  # noqa: ANN401  # those of the transport
        super().__init__(app=app, **options)
        self._description = Description(app.openapi())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Pass the answer on; raise UndocumentedAnswer for one that the document does not know."""
        response = await super().handle_async_request(request)
        self._description.check(
            request.method, request.url.path, response.status_code, response.headers.get("content-type", "")
        )
        return response


class Description:
    """Which answers an OpenAPI document knows."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._components = document["components"]["responses"]
        self._paths = [(_pattern(path), path, operations) for path, operations in document["paths"].items()]
        # A path without parameters is the better description of what both match.
        self._paths.sort(key=lambda known: known[1].count("{"))

    def check(self, method: str, path: str, status: int, content_type: str) -> None:
        """Raise UndocumentedAnswer unless the document knows this answer; what it does not describe is fine."""
        for pattern, template, operations in self._paths:
            operation = operations.get(method.lower())
            if operation is not None and pattern.fullmatch(path):
                self._check(operation, f"{method} {template}", status, content_type)
                return

    def _check(self, operation: dict[str, Any], call: str, status: int, content_type: str) -> None:
        response = operation["responses"].get(str(status))
        if response is None:
            raise UndocumentedAnswer(f"{call} answers {status}; documented are {sorted(operation['responses'])}")
        if "$ref" in response:
            response = self._components[response["$ref"].rpartition("/")[2]]
        form = content_type.partition(";")[0]
        known = response.get("content", {})
        if form and form not in known:
            raise UndocumentedAnswer(f"{call} answers {status} as {form}; documented are {sorted(known)}")


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{[^/]+\\\}", "[^/]+", re.escape(path)))

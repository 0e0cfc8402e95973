"""The manners of Longhorn's API: bodies without a type and with keys in any case, absolute links, one header.

Clients for it are told by the answers where to go next, so links must carry the address by which the client came.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from pydantic_core import from_json, to_json

from tidegate.api.longhorn.shapes import Wire
from tidegate.errors import InvalidInput
from tidegate.model.frozen import Model

T = TypeVar("T")
JSON = "application/json"
_FEW_ENTRIES = 100
# For routes that read their body themselves, because its Content-Type does not matter.
ANY_OBJECT: dict[str, Any] = {"requestBody": {"content": {JSON: {"schema": {"type": "object"}}}}}


def body_of(kind: type[Model]) -> dict[str, Any]:
    """The same for a route whose answers show this kind, so that the document describes it already."""
    schema = {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {"requestBody": {"content": {JSON: {"schema": schema}}, "required": True}}


def shown_beside(kind: type[Model], description: str = "Successful Response") -> dict[str, Any]:
    """Declare an answer of our own shape with Longhorn's flat fields beside it, which no model of ours knows."""
    schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
    own = {name: part for name, part in schema.items() if name != "$defs"}
    return {"description": description, "content": {JSON: {"schema": {**own, "additionalProperties": True}}}}


_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_PORT = re.compile(r"[0-9]{1,5}")
_USUAL_PORTS = {"http": "80", "https": "443"}


def base_url(request: Request) -> str:
    """`scheme://host` as the client knows it: what a proxy says, else what the client itself sent as Host."""
    headers = request.headers
    asked = urlsplit(_first(headers.get("x-api-request-url", "")))
    if asked.scheme in _USUAL_PORTS and _HOST.fullmatch(asked.netloc):
        return f"{asked.scheme}://{asked.netloc}"
    scheme = _first(headers.get("x-forwarded-proto", "")).lower()
    scheme = scheme if scheme in _USUAL_PORTS else request.url.scheme
    host = next(filter(_HOST.fullmatch, (_first(headers.get("x-forwarded-host", "")), headers.get("host", ""))), "")
    port = _first(headers.get("x-forwarded-port", ""))
    if _PORT.fullmatch(port) and port != _USUAL_PORTS.get(scheme) and not re.search(r":[0-9]+$", host):
        host = f"{host}:{port}"
    return f"{scheme}://{host or 'localhost'}"


def _first(header: str) -> str:
    """Of several proxies the outermost speaks first."""
    return header.partition(",")[0].strip()


async def read_body(request: Request) -> dict[str, object]:
    """The JSON object of the body with its keys in lower case, whatever its Content-Type; nothing is `{}`."""
    return {key.lower(): value for key, value in (await read_object(request)).items()}


async def read_object(request: Request) -> dict[str, object]:
    """The same with the keys as they were sent."""
    sent = await request.body()
    try:
        found = from_json(sent) if sent.strip() else {}
    except ValueError:
        raise InvalidInput("the body is not valid JSON") from None
    if not isinstance(found, dict):
        raise InvalidInput("the body must be a JSON object", hint='send {} or {"name": "..."}')
    return found


def text_of(body: dict[str, object], name: str) -> str:
    """A field that must be text; empty if it is not there."""
    value = body.get(name.lower(), "")
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text", field=name)
    return value.strip()


def schemas_header(request: Request) -> dict[str, str]:
    """What every answer carries."""
    return {"X-API-Schemas": f"{base_url(request)}/v1/schemas"}


def answer(request: Request, document: Wire) -> Response:
    """One document."""
    return Response(to_json(document), media_type=JSON, headers=schemas_header(request))


def collection(request: Request, kind: str, data: Iterable[object], **more: object) -> Wire:
    """A whole list, with what else there is to say of it."""
    return {
        "type": "collection",
        "resourceType": kind,
        "links": {"self": here(request)},
        "actions": {},
        **more,
        "data": list(data),
    }


def here(request: Request) -> str:
    """This very request as a link."""
    query = f"?{request.url.query}" if request.url.query else ""
    return f"{base_url(request)}{request.url.path}{query}"


def following(request: Request, marker: str) -> str:
    """The same from a marker on, as a link. It does not skip again what was skipped before it."""
    rest = request.url.remove_query_params("skip").include_query_params(marker=marker)
    return f"{base_url(request)}{rest.path}?{rest.query}"


async def encoded(make: Callable[[], object], *, entries: int) -> bytes:
    """JSON of what `make` makes; of many entries beside the event loop, where they would hold up everybody else.

    Of few at once: to wait for another thread, while a sync keeps the interpreter busy, takes longer than the work.
    """
    if entries <= _FEW_ENTRIES:
        return to_json(make())
    return await asyncio.to_thread(lambda: to_json(make()))


def streamed(request: Request, kind: str, pages: AsyncIterator[bytes], **more: object) -> Response:
    """A list of any length, sent while it is read: each page is the JSON of a list.

    Clients made for Longhorn know no pages. This way they get everything, and the server never holds it all.
    """
    head = to_json(collection(request, kind, (), **more))

    async def parts() -> AsyncIterator[bytes]:
        yield head[: -len(b"]}")]
        first = True
        async for page in pages:
            inside = page[1:-1]
            if inside:
                yield inside if first else b"," + inside
                first = False
        yield b"]}"

    return StreamingResponse(parts(), media_type=JSON, headers=schemas_header(request))

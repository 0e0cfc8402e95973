"""What /openapi.json says beyond what FastAPI reads from the routes: each refusal, where a call can answer it."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.routing import BaseRoute

from tidegate.api.problems import PROBLEM_TYPE
from tidegate.api.security.auth import require_token
from tidegate.api.security.text import require_whole_text
from tidegate.decide.access.roles import READING_METHODS, need_of
from tidegate.model.access.access import Role
from tidegate.model.setting import Setting

Document = dict[str, Any]

# Refused before a route is found: two lengths, an unknown host, too large a head, too many connections. And bugs.
_EVERYWHERE = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.SERVICE_UNAVAILABLE,
}
# The body is read, also where nothing of it is needed.
_OF_BODIES = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
# What is there already, changes meanwhile, or does not fit on the disk.
_OF_CHANGES = {HTTPStatus.CONFLICT, HTTPStatus.INSUFFICIENT_STORAGE}
# These change nothing that is stored, whatever their method says.
_STORES_NOTHING = {"/v1/login", "/v1/notifications/{name}/test", "/v1/restore-plans"}
_NEVER_IN_CONFLICT = {"/v1/logout"}
_MAY_BE_ABSENT = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_PROBLEM: Document = {
    "type": "object",
    "description": "A problem document (RFC 9457).",
    "required": ["type", "title", "status", "code", "detail", "message"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "Stable; docs/errors.md lists all of them."},
        "detail": {"type": "string", "description": "One sentence that says what is wrong."},
        "message": {"type": "string", "description": "The sentence and the hint."},
        "hint": {**_MAY_BE_ABSENT, "description": "What to do about it."},
        "field": {**_MAY_BE_ABSENT, "description": "Where in the body or the query the mistake is."},
    },
}


def completed(document: Document, routes: Sequence[BaseRoute]) -> Document:
    """Return the document with every refusal of every call."""
    used: set[HTTPStatus] = set()
    for route in iter_route_contexts(routes):
        operations = document["paths"].get(route.path_format, {})
        for method in route.methods or ():
            if method.lower() in operations:
                used |= _complete(operations[method.lower()], route, method)
    components = document["components"]
    # Of the framework; Tidegate answers problem documents.
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    _add_setting(components["schemas"])
    components["responses"] = {_name(status): _response(status) for status in sorted(used)}
    components["schemas"]["Problem"] = _PROBLEM
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return document


def _add_setting(schemas: Document) -> None:
    """Describe the one kind that FastAPI sees at no route: all of its routes speak Longhorn's shape too."""
    schema = Setting.model_json_schema(ref_template="#/components/schemas/{model}")
    for name, part in {**schema.pop("$defs", {}), Setting.__name__: schema}.items():
        schemas.setdefault(name, part)


def _complete(operation: Document, route: RouteContext, method: str) -> set[HTTPStatus]:
    responses = operation["responses"]
    by_fastapi = "content" in responses.get("422", {})  # it says so wherever there is a parameter
    if by_fastapi and method in READING_METHODS and _takes_any_text(operation):
        del responses["422"]
    declared = {HTTPStatus(int(code)) for code in responses if int(code) >= HTTPStatus.BAD_REQUEST}
    statuses = declared | _refusals(route, method)
    for status in statuses:
        answer: Document = {"$ref": f"#/components/responses/{_name(status)}"}
        said = responses.get(str(int(status)), {})
        own_form = {name: form for name, form in said.get("content", {}).items() if name != "application/json"}
        if own_form:
            content = {**own_form, PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
            answer = {"description": said["description"], "content": content}
        responses[str(int(status))] = answer
    if _depends_on(route.dependant, require_token):
        operation["security"] = [{"token": []}]
    return statuses


def _takes_any_text(operation: Document) -> bool:
    """Whether nothing that a client sends can be wrong: a path may name anything, and then it is not found."""
    return all(
        one["in"] == "path" and one["schema"].keys() <= {"type", "title"} for one in operation.get("parameters", ())
    )


def _refusals(route: RouteContext, method: str) -> set[HTTPStatus]:
    path = str(route.path_format)
    found = set(_EVERYWHERE)
    reads = method in READING_METHODS
    if _depends_on(route.dependant, require_token):
        found.add(HTTPStatus.UNAUTHORIZED)
        if not reads or need_of(method, path.removeprefix("/v1")).role is not Role.VIEWER:
            found.add(HTTPStatus.FORBIDDEN)
    if "{" in path:
        found.add(HTTPStatus.NOT_FOUND)
    if not reads and _depends_on(route.dependant, require_whole_text):
        found |= _OF_BODIES
    if not reads and path not in _STORES_NOTHING:
        found |= _OF_CHANGES
    if path in _NEVER_IN_CONFLICT:
        found.discard(HTTPStatus.CONFLICT)
    return found


def _depends_on(dependant: Dependant, call: Callable[..., object]) -> bool:
    return dependant.call is call or any(_depends_on(one, call) for one in dependant.dependencies)


def _name(status: HTTPStatus) -> str:
    return status.name.title().replace("_", "")


def _response(status: HTTPStatus) -> Document:
    return {
        "description": status.phrase,
        "content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }

"""Every error as a problem document (RFC 9457): one sentence, what to do, and the right status."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from tidegate import errors
from tidegate.errors import InvalidInput, TidegateError

# A test walks the tree of errors and fails on a class that has no status here.
STATUS_BY_ERROR: dict[type[TidegateError], HTTPStatus] = {
    errors.TidegateError: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.UserError: HTTPStatus.BAD_REQUEST,
    errors.InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.Unauthenticated: HTTPStatus.UNAUTHORIZED,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.TooManyAttempts: HTTPStatus.TOO_MANY_REQUESTS,
    errors.WrongKey: HTTPStatus.FORBIDDEN,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.FormerSetting: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.AlreadyExists: HTTPStatus.CONFLICT,
    errors.Refused: HTTPStatus.CONFLICT,
    errors.SourceUnreadable: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.DestinationUnusable: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.NoSpace: HTTPStatus.INSUFFICIENT_STORAGE,
    errors.AlreadyRunning: HTTPStatus.CONFLICT,
    errors.RetryableError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StaleVersion: HTTPStatus.CONFLICT,
    errors.WatchExpired: HTTPStatus.GONE,
    errors.StoreUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StoreBusy: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StoreIdentityMissing: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StoreIdentityChanged: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StoreLocked: HTTPStatus.LOCKED,
    errors.StoreLockHeld: HTTPStatus.LOCKED,
    errors.ServerUnreachable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.NotDelivered: HTTPStatus.BAD_GATEWAY,
    errors.CatalogueDamaged: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.CatalogueNotRead: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.HelperLost: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DamageError: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.DatabaseDamaged: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.DamagedMetadata: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.DamagedBlock: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.MissingBlock: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.RestoredDataDiffers: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.WorkCancelled: HTTPStatus.CONFLICT,
}
PROBLEM_TYPE = "application/problem+json"


def refusals(*kinds: type[TidegateError]) -> dict[int | str, dict[str, Any]]:
    """Declare which errors a route may raise beyond those that every call of its kind may."""
    statuses = {STATUS_BY_ERROR[kind] for kind in kinds}
    return {int(status): {"description": status.phrase} for status in sorted(statuses)}


def problem(status: int, code: str, detail: str, *, hint: str = "", field: str = "") -> JSONResponse:
    """One problem document."""
    body: dict[str, object] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "message": f"{detail}; {hint}" if hint else detail,  # where clients made for Longhorn look
    }
    if hint:
        body["hint"] = hint
    if field:
        body["field"] = field
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return JSONResponse(body, status_code=status, media_type=PROBLEM_TYPE, headers=headers)


async def on_tidegate_error(_request: Request, error: Exception) -> JSONResponse:
    """An error of our tree: its own sentence."""
    assert isinstance(error, TidegateError)  # noqa: S101  # registered for nothing else
    field = error.field if isinstance(error, InvalidInput) else ""
    return problem(STATUS_BY_ERROR[type(error)], error.code, error.message, hint=error.hint, field=field)


async def on_validation_error(_request: Request, error: Exception) -> JSONResponse:
    """Input that does not fit the schema: the first mistake as a sentence, the number of the others."""
    assert isinstance(error, RequestValidationError)  # noqa: S101  # registered for nothing else
    found = error.errors()
    field, sentence = describe_mistake(found[0])
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    status = HTTPStatus.BAD_REQUEST if found[0]["type"] == "json_invalid" else HTTPStatus.UNPROCESSABLE_ENTITY
    return problem(status, InvalidInput.code, f"{sentence}{more}", field=field)


async def on_http_error(_request: Request, error: Exception) -> JSONResponse:
    """What the framework itself refuses: no such route, method not allowed."""
    assert isinstance(error, HTTPException)  # noqa: S101  # registered for nothing else
    code = "NotFound" if error.status_code == HTTPStatus.NOT_FOUND else "Refused"
    return problem(error.status_code, code, str(error.detail))


async def on_bug(_request: Request, _error: Exception) -> JSONResponse:
    """Anything else is our bug; the log has the traceback, the caller gets no internals."""
    detail = "the server hit a bug; its log has the details"
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "InternalError", detail)


def describe_mistake(mistake: dict[str, object]) -> tuple[str, str]:
    """Where it is, and a sentence about it."""
    location = mistake["loc"]
    assert isinstance(location, Sequence)  # noqa: S101  # pydantic promises it
    parts = [part for part in location if part not in {"body", "query", "path"}]
    field = ""
    for part in parts:
        field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else str(part)
    message = str(mistake["msg"]).removeprefix("Value error, ")
    match mistake["type"]:
        case "extra_forbidden":
            return field, f"{field} is not a known field"
        case "missing":
            return field, f"{field or 'the body'} is missing"
        case "json_invalid":
            return "", "the body is not valid JSON"
        case _:
            return field, f"{field}: {message}" if field else message

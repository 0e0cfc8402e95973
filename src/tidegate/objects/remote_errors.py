"""What obstore and the stores behind it say, in the words of the error tree.

The library's own sentence is not passed on: it holds whatever the server sent, a page of debugging, and with some
servers parts of the credentials. What matters of it is read out here.
"""

import contextlib
import re
from collections.abc import Iterator

from obstore.exceptions import BaseError, InvalidPathError, PermissionDeniedError, UnauthenticatedError

from tidegate.errors import (
    DamagedMetadata,
    InvalidInput,
    NoSpace,
    NotFound,
    StoreBusy,
    StoreUnavailable,
    TidegateError,
    Unauthenticated,
)
from tidegate.objects.place import Place

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,64})</Code>")
_REGION = re.compile(r"<Region>([a-z0-9-]{1,32})</Region>")
# The only proof of absence. A 404 without one of these words came from somebody who does not know our keys.
_ABSENT = frozenset({"NoSuchKey", "BlobNotFound"})
_NO_BUCKET = frozenset({"NoSuchBucket", "ContainerNotFound", "AccountIsDisabled", "ContainerBeingDeleted"})
_BUSY_STATUS = frozenset({"429", "503"})
_BUSY = frozenset({"SlowDown", "ServerBusy", "TooManyRequests", "RequestLimitExceeded", "OperationTimedOut"})
_FULL = frozenset({"QuotaExceeded", "XMinioStorageFull", "InsufficientStorage", "EntityTooLarge"})
_FORBIDDEN_STATUS = frozenset({"401", "403"})
# What the library's debugging text says of requests that got no answer.
_NO_ANSWER = (
    ("dns error", "the name of the host cannot be resolved"),
    ("ConnectionRefused", "the connection was refused"),
    ("CaUsedAsEndEntity", "its certificate is marked as an authority's own (CA:TRUE), which no server may show"),
    ("InvalidCertificate", "its certificate is not trusted; a private authority belongs in the credentials (AWS_CERT)"),
    ("TimedOut", "it did not answer in time"),
    ("kind: Timeout", "it did not answer in time"),
)


@contextlib.contextmanager
def translated(place: Place, key: str, verb: str) -> Iterator[None]:
    """Turn an error of the library into the one that says who must act; `verb` tells what was tried with `key`."""
    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise translation(error, place, key, verb) from None


def translation(  # noqa: PLR0911  # a table of who must act, read from top to bottom
    error: Exception, place: Place, key: str, verb: str
) -> TidegateError:
    """The error of ours for one of the library's."""
    text = str(error)
    status = found.group(1) if (found := _STATUS.search(text)) else ""
    code = found.group(1) if (found := _CODE.search(text)) else ""
    what = f"could not {verb} {key or 'the root'} in {place}"
    if isinstance(error, InvalidPathError):
        return DamagedMetadata(f"{what}: the bucket has an object whose name cannot be a key, such as one with '//'")
    if isinstance(error, FileNotFoundError) and code in _ABSENT:
        return NotFound(f"{key} is not in {place}")
    if code in _NO_BUCKET:
        return StoreUnavailable(f"{what}: there is no bucket {place.bucket}", hint="create it, or correct the URL")
    if code in _FULL or status == "507":
        return NoSpace(f"{what}: the store is full ({code or status})", hint="free some space and try again")
    if isinstance(error, (PermissionDeniedError, UnauthenticatedError)) or status in _FORBIDDEN_STATUS:
        return Unauthenticated(
            f"not allowed to {verb} {key or 'the root'} in {place}: {code or status or 'no credentials were found'}",
            hint="check the keys in the target's secret and what they are allowed to do",
        )
    if code in _BUSY or status in _BUSY_STATUS:
        return StoreBusy(f"{what}: the store asks for fewer requests ({code or status})")
    return _region_mistake(text, place) or StoreUnavailable(f"{what}: {_reason(text, status, code)}")


def _region_mistake(text: str, place: Place) -> InvalidInput | None:
    region = found.group(1) if (found := _REGION.search(text)) else "REGION"
    if region == "REGION" and "incorrectly configured region" not in text:
        return None
    sentence = f"{place} is in another region" + (f": {region}" if region != "REGION" else "")
    return InvalidInput(sentence, field="spec.url", hint=f"write s3://{place.bucket}@{region}/{place.path}")


def _reason(text: str, status: str, code: str) -> str:
    if status:
        return f"the store answered {status}" + (f" {code}" if code else "")
    return next((reason for sign, reason in _NO_ANSWER if sign in text), "the answer did not come, or not whole")

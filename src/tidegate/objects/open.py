"""From a target's URL to its store. A new kind of store is a new line in the table."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from urllib.parse import unquote

from tidegate.errors import InvalidInput
from tidegate.model.stores.target_url import DIRECTORY_SCHEMES as _LOCAL
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.backoff import PATIENT, Patience
from tidegate.objects.credentials import check_credentials
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.identity import recognise
from tidegate.objects.retrying import Pause, RetryingObjects
from tidegate.ports.object_store import ObjectStore

_HINT = "write for example file:///srv/backups or s3://bucket@region/path/"


def _pause_in_thread(seconds: float) -> bool:
    return threading.Event().wait(seconds)


@dataclass(frozen=True)
class _Request:
    access: TargetAccess
    scheme: str
    rest: str
    """What is behind `://`."""
    patience: Patience
    pause: Pause
    at_first: Patience | None


def open_store(
    access: TargetAccess,
    *,
    patience: Patience = PATIENT,
    pause: Pause = _pause_in_thread,
    at_first: Patience | None = None,
) -> ObjectStore:
    """The store behind this URL. Raises InvalidInput for a URL that can never work, else as ObjectStore does.

    With an identity in `access` it is that store: raises StoreIdentityMissing or StoreIdentityChanged before anything
    can be written to another one. A directory stays the one that was asked, whatever is mounted over it afterwards.
    Remote stores are asked again as far as `patience` goes, and until their first answer as far as `at_first`; `pause`
    waits in between and may end that.
    """
    scheme, separator, rest = access.url.partition("://")
    opener = _OPENERS.get(scheme.lower())
    if not separator or opener is None:
        raise InvalidInput(
            f"{access.url!r} is not the URL of a store: use {' or '.join(f'{one}:///path' for one in _LOCAL)}, "
            f"or {', '.join(f'{one}://...' for one in _OPENERS if one not in _LOCAL)}",
            field="spec.url",
            hint=_HINT,
        )
    check_credentials(scheme.lower(), access.credentials)
    store = opener(_Request(access, scheme.lower(), rest, patience, pause, at_first))
    recognise(store, access)
    return store


def _open_directory(request: _Request) -> ObjectStore:
    """`///path`: the host is empty, and options, which Longhorn ignores here, are ignored."""
    path = unquote(request.rest.partition("?")[0])
    if not path.startswith("/") or "\0" in path:
        raise InvalidInput(
            f"{request.access.url!r} should name an absolute path after an empty host", field="spec.url", hint=_HINT
        )
    return DirectoryObjects(path.rstrip("/") or "/")


def _open_share(request: _Request) -> ObjectStore:
    from tidegate.objects.mount_plan import plan_mount
    from tidegate.objects.mounts import SystemRunner, mounted

    credentials = check_credentials(request.scheme, request.access.credentials)
    return DirectoryObjects(mounted(plan_mount(request.scheme, request.rest, credentials), SystemRunner()))


def _open_remote(request: _Request) -> ObjectStore:
    # Here, because a machine that only has directories need not load the client library.
    from tidegate.objects.pacing import PacedObjects
    from tidegate.objects.place import read_place
    from tidegate.objects.remote import RemoteObjects
    from tidegate.objects.remote_clients import connect

    client = connect(
        read_place(request.scheme, request.rest),
        check_credentials(request.scheme, request.access.credentials),
        request_timeout=timedelta(seconds=request.patience.request_seconds),
    )
    return RetryingObjects(
        PacedObjects(RemoteObjects(client)),
        patience=request.patience,
        pause=request.pause,
        at_first=request.at_first,
        random=Random(),  # noqa: S311  # jitter, not secrets
    )


_OPENERS: dict[str, Callable[[_Request], ObjectStore]] = {
    "file": _open_directory,
    "vfs": _open_directory,
    "nfs": _open_share,
    "cifs": _open_share,
    "s3": _open_remote,
    "azblob": _open_remote,
    "gs": _open_remote,
}

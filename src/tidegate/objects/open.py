"""From a target's URL to its store. A new kind of store is a new line in the table."""

from collections.abc import Callable
from urllib.parse import unquote

from tidegate.errors import InvalidInput
from tidegate.model.mover_job import TargetAccess
from tidegate.objects.directory import DirectoryObjects
from tidegate.ports.object_store import ObjectStore

_HINT = "write for example file:///srv/backups"


def open_store(access: TargetAccess) -> ObjectStore:
    """The store behind this URL. Raises InvalidInput for a URL that can never work, else as ObjectStore does."""
    scheme, separator, rest = access.url.partition("://")
    opener = _OPENERS.get(scheme.lower())
    if not separator or opener is None:
        raise InvalidInput(
            f"{access.url!r} is not the URL of a store: use {' or '.join(f'{one}:///path' for one in _OPENERS)}",
            field="spec.url",
            hint=_HINT,
        )
    return opener(access.url, rest)


def _open_directory(url: str, rest: str) -> ObjectStore:
    """`///path`: the host is empty, and options, which Longhorn ignores here, are ignored."""
    path = unquote(rest.partition("?")[0])
    if not path.startswith("/") or "\0" in path:
        raise InvalidInput(f"{url!r} should name an absolute path after an empty host", field="spec.url", hint=_HINT)
    return DirectoryObjects(path.rstrip("/") or "/")


# Longhorn says vfs, everybody else says file.
_OPENERS: dict[str, Callable[[str, str], ObjectStore]] = {"file": _open_directory, "vfs": _open_directory}

"""Where the stores of targets are on this machine: a restore to there would overwrite backups."""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tidegate.model.stores.target_url import DIRECTORY_SCHEMES, MOUNTS, SHARE_SCHEMES
from tidegate.model.volumes.kept_place import KeptPlace

if TYPE_CHECKING:
    from tidegate.model.stores.target import BackupTarget


def store_places(targets: Iterable["BackupTarget"]) -> tuple[KeptPlace, ...]:
    """Of those that are directories, and of those that are mounted by Tidegate."""
    found = (store_place(target.spec.url, f"the store of target {target.name}") for target in targets)
    return tuple(place for place in found if place is not None)


def store_place(url: str, name: str) -> KeptPlace | None:
    """None for a store that is elsewhere, and for a URL that names no directory."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() in SHARE_SCHEMES:
        return KeptPlace(path=MOUNTS, what=f"where {name} is mounted")
    path = unquote(rest.partition("?")[0])
    if scheme.lower() not in DIRECTORY_SCHEMES or not path.startswith("/") or "\0" in path:
        return None
    return KeptPlace(path="/" + path.strip("/"), what=name)

"""Where an event stream stands: a version for each of its kinds, as one text that clients hand back to resume it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidegate.errors import InvalidInput
from tidegate.model.backups.backup import Backup
from tidegate.model.kinds import KIND_BY_PLURAL
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import ResourceStore
from tidegate.state.merged_watch import versions_now

# As the port promises of versions. Nothing else may reach a stream whose lines it would break.
_VERSION = re.compile(r"[!-+\--9;-~]+")

Kind = type[Resource]


class EventPosition:
    """Moves with the stream. Versions are equal or not; a position knows nothing of their order."""

    def __init__(self, versions: Mapping[Kind, str]) -> None:
        self._parts = {kind.plural: f"{kind.plural}:{version}" for kind, version in versions.items()}
        self._text = ",".join(self._parts.values())

    def move(self, plural: str, version: str) -> None:
        """This change of this kind was sent."""
        self._parts[plural] = f"{plural}:{version}"
        self._text = ",".join(self._parts.values())

    def __str__(self) -> str:
        """Opaque to clients, though they may compose one."""
        return self._text


def read_position(text: str, kinds: Sequence[Kind]) -> dict[Kind, str]:
    """The versions that the text has for these kinds.

    A bare version is one of the only kind that was asked for. Raises InvalidInput for what is no position; kinds that
    were not asked for are passed over.
    """
    if len(kinds) == 1 and _VERSION.fullmatch(text):
        return {kinds[0]: text}
    versions: dict[Kind, str] = {}
    for part in text.split(","):
        plural, _, version = part.partition(":")
        kind = KIND_BY_PLURAL.get(plural)
        if kind is None or kind in versions or not _VERSION.fullmatch(version):
            raise InvalidInput(
                f"{part!r} is no position in a stream of changes",
                field="since",
                hint="take the id of an event, or write the resourceVersion of a list as KIND:VERSION, with commas",
            )
        versions[kind] = version
    return {kind: versions[kind] for kind in kinds if kind in versions}


@dataclass(frozen=True)
class StreamStart:
    """Where a stream starts."""

    versions: Mapping[Kind, str]
    knows_places: bool = False
    """Whether the client knows the queue as it is: no backup has changed since the version that it came with."""


async def start_of(store: ResourceStore, kinds: Sequence[Kind], given: str | None) -> StreamStart:
    """Behind the position that a client came with; now for kinds of which it has no version."""
    known = {} if given is None else read_position(given, kinds)
    now = await versions_now(store, (kind for kind in kinds if kind not in known or kind is Backup))
    versions = {kind: known.get(kind) or now[kind] for kind in kinds}
    return StreamStart(versions, knows_places=Backup in kinds and versions[Backup] == now[Backup])

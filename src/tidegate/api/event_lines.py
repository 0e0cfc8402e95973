"""Changes as lines of the event stream, written once for all who watch."""

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Event

# As many as one burst may hold while the watchers take turns; at about 2 KiB each.
_KEPT = 1024


class EventLines:
    """The newest lines, by version, each with the resource as it was shown.

    What a queued backup's line says of its place was true when it was first told.
    """

    def __init__(self) -> None:
        self._lines: OrderedDict[str, tuple[bytes, Resource]] = OrderedDict()

    async def line(self, event: Event, shown: Callable[[Resource], Awaitable[Resource]]) -> tuple[bytes, Resource]:
        """This change, ready to be sent; `shown` is asked only if nobody was told of it before."""
        version = event.resource_version
        known = self._lines.get(version)
        if known is not None:
            return known
        resource = await shown(event.resource)
        told = self._lines[version] = as_line(version, event.change, resource), resource
        if len(self._lines) > _KEPT:
            self._lines.popitem(last=False)
        return told


def as_line(version: str, change: str, resource: Resource) -> bytes:
    """A message of the stream; who comes back goes on behind `version`."""
    body = json.dumps(resource.to_wire(), separators=(",", ":"))
    return f"id: {version}\nevent: {change}\ndata: {body}\n\n".encode()

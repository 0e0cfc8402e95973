"""Changes as messages of the event stream, encoded once for all who watch."""

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Event

# As many as one burst may hold while the watchers take turns; at about 2 KiB each.
_KEPT = 1024


class EventLines:
    """The newest bodies of messages, by kind and version, each with the resource as it was shown.

    What a queued backup's body says of its place was true when it was first sent.
    """

    def __init__(self) -> None:
        self._bodies: OrderedDict[tuple[str, str], tuple[bytes, Resource]] = OrderedDict()

    async def body(self, event: Event, shown: Callable[[Resource], Awaitable[Resource]]) -> tuple[bytes, Resource]:
        """This change, ready to be sent behind an id; `shown` is asked only if it was not sent before."""
        key = event.resource.kind, event.resource_version
        known = self._bodies.get(key)
        if known is not None:
            return known
        resource = await shown(event.resource)
        made = self._bodies[key] = as_body(event.change, resource), resource
        if len(self._bodies) > _KEPT:
            self._bodies.popitem(last=False)
        return made


def as_body(change: str, resource: Resource) -> bytes:
    """A message without its id, which differs from client to client."""
    return f"event: {change}\ndata: {json.dumps(resource.to_wire(), separators=(',', ':'))}\n\n".encode()


def as_message(position: object, body: bytes) -> bytes:
    """A message of the stream; a client that comes back goes on behind `position`."""
    return b"id: %s\n%s" % (str(position).encode(), body)

"""The server's event stream, read line by line.

Lines end at line feeds only. Libraries that split text where Unicode sees a line break cut JSON in two as soon as a
file name contains one.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tidegate.cli.http.wire import Wire
from tidegate.errors import ServerUnreachable, WatchExpired

_LARGEST_EVENT = 16_000_000


@dataclass(frozen=True)
class ResourceEvent:
    """One change, with the resource as it was right after it."""

    position: str
    """Where to resume the stream behind it."""
    change: str
    """ADDED, MODIFIED or DELETED."""
    resource: Wire

    @property
    def deleted(self) -> bool:
        """Whether the resource is gone."""
        return self.change == "DELETED"


@dataclass(frozen=True)
class Quiet:
    """Nothing happened, but the server is there: a chance to look at the clock."""

    position: str = ""
    """Where to resume the stream, if the server said so."""


QUIET = Quiet()


def position_behind(versions: Mapping[str, str]) -> str:
    """Where a stream begins that goes on behind these versions of lists, by plural."""
    return ",".join(f"{plural}:{version}" for plural, version in versions.items())


def read_events(chunks: Iterable[bytes]) -> Iterator[ResourceEvent | Quiet]:
    """The events in a stream of bytes, and a Quiet for each comment and each message that is only a position.

    Raises WatchExpired when the server says that it no longer has what was missed.
    """
    fields: dict[str, str] = {}
    for line in _lines(chunks):
        if line.startswith(b":"):
            yield QUIET
        elif line:
            name, _, value = line.decode("utf-8", "replace").partition(":")
            text = value.removeprefix(" ")
            # Data may come in several lines; of the other fields the last one counts.
            fields[name] = f"{fields[name]}\n{text}" if name == "data" and name in fields else text
        elif fields:
            event = _event(fields)
            fields = {}
            if event is not None:
                yield event


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        rest += chunk
        *lines, rest = rest.split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r")
        if len(rest) > _LARGEST_EVENT:
            raise ServerUnreachable("The server sent an event without end.")


def _event(fields: dict[str, str]) -> ResourceEvent | Quiet | None:
    change = fields.get("event", "")
    if change == "expired":
        raise WatchExpired("The server no longer has all changes since the last look.")
    if change not in {"ADDED", "MODIFIED", "DELETED"}:
        # Only a position, or a kind of event that a newer server has.
        return Quiet(fields["id"]) if "id" in fields else None
    try:
        resource = json.loads(fields.get("data", ""))
        return ResourceEvent(fields.get("id", ""), change, {**resource, "metadata": resource["metadata"]})
    except (ValueError, TypeError, KeyError) as error:
        raise ServerUnreachable("The server sent an event that is not a resource.") from error

"""Following changes through restarts of the server: look, then listen from there, and look again when in doubt."""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto

from tidegate.cli.context import CliContext
from tidegate.cli.failures import waited_too_long
from tidegate.cli.http.client import Client
from tidegate.cli.http.events import Quiet, ResourceEvent, position_behind
from tidegate.errors import ServerUnreachable, WatchExpired
from tidegate.model.backoff import Doubling
from tidegate.ports.clock import Clock

_PAUSES = Doubling(timedelta(milliseconds=250), timedelta(seconds=5))
# Servers send a comment more often than this; one that does not is gone.
_QUIET_SECONDS = 60.0
# With a deadline the stream is opened anew this often if nothing comes, so that the deadline is met.
_QUIET_SECONDS_WITH_DEADLINE = 5.0
_SHORTEST_READ_SECONDS = 0.2


Versions = Mapping[str, str]
"""Of each kind, by plural, as its list had it."""


class Moment(Enum):
    """What can happen beside a change."""

    LOOKED = auto()
    """The look was taken, for the first time or anew: what is known now is whole."""
    QUIET = auto()
    LOST = auto()
    """The server went away; it is looked for until it is found or the time is over."""


@dataclass(frozen=True)
class Deadline:
    """When somebody stops waiting; without a limit, never."""

    clock: Clock
    ends_at: float | None
    sentence: str
    hint: str

    @classmethod
    def after(cls, clock: Clock, limit: timedelta | None, *, sentence: str, hint: str) -> "Deadline":
        """From now on."""
        ends_at = None if limit is None else clock.monotonic() + limit.total_seconds()
        return cls(clock, ends_at, sentence, hint)

    def check(self) -> None:
        """Raises once the time is over."""
        if self.ends_at is not None and self.clock.monotonic() >= self.ends_at:
            raise waited_too_long(self.sentence, hint=self.hint)

    def quiet_seconds(self) -> float:
        """How long to listen to silence before the clock is looked at."""
        if self.ends_at is None:
            return _QUIET_SECONDS
        left = self.ends_at - self.clock.monotonic()
        return max(_SHORTEST_READ_SECONDS, min(_QUIET_SECONDS_WITH_DEADLINE, left))


def follow(
    cli: CliContext, plurals: tuple[str, ...], look: Callable[[Client], Versions], *, deadline: Deadline
) -> Generator[ResourceEvent | Moment, None, None]:
    """Everything that happens to these kinds, for ever.

    `look` is called first and whenever changes may have been missed; it returns the version of each kind to listen
    from. A server that cannot be reached at the first look is an error; one that goes away later is waited for until
    the deadline.
    """
    looked_before = False
    tries = 0
    while True:
        try:
            with cli.connect() as client:
                position = position_behind(look(client))
                looked_before, tries = True, 0
                yield Moment.LOOKED
                yield from _listen(client, plurals, position, deadline)
        except WatchExpired:
            pass
        except ServerUnreachable:
            if not looked_before:
                raise
            if tries == 0:
                yield Moment.LOST
        deadline.check()
        tries += 1
        _sleep(cli.clock, _PAUSES.after(tries))


def _listen(
    client: Client, plurals: tuple[str, ...], position: str, deadline: Deadline
) -> Iterator[ResourceEvent | Moment]:
    """Changes behind `position`, on as many streams as it takes; ends only by raising."""
    while True:
        with client.events(plurals, since=position, quiet_seconds=deadline.quiet_seconds()) as events:
            for event in events:
                position = event.position or position
                yield Moment.QUIET if isinstance(event, Quiet) else event
                deadline.check()


def pause_a_moment(clock: Clock) -> None:
    """Before asking again for what tells of no changes."""
    _sleep(clock, _PAUSES.first)


def _sleep(clock: Clock, pause: timedelta) -> None:
    import asyncio

    asyncio.run(_passed(clock, pause))


async def _passed(clock: Clock, pause: timedelta) -> None:
    await clock.sleep(pause)

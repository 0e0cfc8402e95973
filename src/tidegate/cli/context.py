"""What a command has at hand: the clock, the shell's environment, the flags, and from them everything else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import typer

from tidegate.cli.configuration import read_configuration
from tidegate.cli.environment import Environment
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import Failure
from tidegate.cli.http.client import Client
from tidegate.cli.http.discovery import find_server
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.terminal import Terminal
from tidegate.decide.server.configuration import Configuration
from tidegate.ports.clock import Clock

if TYPE_CHECKING:
    from tidegate.datapath.workshop import Workshop
    from tidegate.views.reader import Reader

OpenWorkshop = Callable[[], "Workshop"]

_NO_CLOCK = "build_app was given no clock, so its commands cannot run"


class NoClock:
    """Stands in where only help is wanted: documents are made from an app without a clock."""

    def now(self) -> datetime:
        """Refused."""
        raise RuntimeError(_NO_CLOCK)

    def monotonic(self) -> float:
        """Refused."""
        raise RuntimeError(_NO_CLOCK)

    async def sleep(self, delay: timedelta) -> None:
        """Refused."""
        raise RuntimeError(f"{_NO_CLOCK}: not even to sleep {delay}")


def no_workshop() -> "Workshop":
    """Stands in where only help, or only a server, is wanted."""
    raise RuntimeError("build_app was given no workshop, so no store can be worked on")


@dataclass
class CliContext:
    """One run of one command. `typer.Context.obj` holds it."""

    clock: Clock
    environment: Environment
    flags: Mapping[str, object] = field(default_factory=dict)
    """The global options that were given, by field name."""
    output: OutputFormat | None = None
    """As given with -o; errors follow it."""
    exit_code: ExitCode = ExitCode.DONE
    """How the command ends even if nobody reads its output to the end."""
    workshop: OpenWorkshop = no_workshop
    """What the commands that work on a store do it with; only called when needed, for it is slow to load."""

    @cached_property
    def configuration(self) -> Configuration:
        """Read once, when first needed: help must work beside a broken file."""
        return read_configuration(self.flags, self.environment)

    @property
    def terminal(self) -> Terminal:
        """Where words go."""
        return Terminal(self.environment.variables, self.configuration.color)

    def connect(self) -> Client:
        """A new connection. The server is looked for each time: after a restart it may be elsewhere."""
        return Client(find_server(self.configuration))

    def reader(self, *, exact_bytes: bool = False) -> "Reader":
        """Who looks: now, and in the zone of this machine."""
        from tidegate.views.reader import Reader

        return Reader(now=self.clock.now(), zone=None, exact_bytes=exact_bytes)

    def report(self, failure: Failure) -> None:
        """Tell what went wrong, as an object if data was asked for as objects, and end with its code."""
        for_programs = self.output is not None and self.output.for_programs
        # Not by way of the configuration: that may be what is wrong.
        Terminal(self.environment.variables).note(failure.as_json() if for_programs else failure.as_text())
        self.end_with(failure.exit_code)

    def end_with(self, code: ExitCode) -> None:
        """Let the command end with this code once its output is out; the first one that is not DONE stays."""
        if self.exit_code is ExitCode.DONE:
            self.exit_code = code


def context_of(ctx: typer.Context) -> CliContext:
    """The command's own context."""
    found = ctx.find_object(CliContext)
    if found is None:
        raise RuntimeError("the command was not started by build_app")
    return found

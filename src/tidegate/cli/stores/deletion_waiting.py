"""Waiting until what was deleted is gone from its store."""

from collections.abc import Sequence
from datetime import timedelta

from tidegate.cli.context import CliContext
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import CommandFailure
from tidegate.cli.http.following import Deadline, pause_a_moment
from tidegate.cli.output.terminal import printable
from tidegate.errors import NotFound

_DONE, _STOPPED = "Done", {"Refused", "Canceled"}


def wait_for_deletions(cli: CliContext, names: Sequence[str], *, timeout: timedelta | None) -> None:
    """Stay until each is carried out; raises if one was refused or called off. Ctrl-C stops only the waiting."""
    deadline = Deadline.after(
        cli.clock,
        timeout,
        sentence="Not everything was gone from the store in time. The server goes on removing it.",
        hint="Look with: tidegate deletion get",
    )
    try:
        for name in names:
            _wait_for(cli, name, deadline)
    except KeyboardInterrupt:
        raise CommandFailure(
            "Stopped waiting. The server goes on removing it.", code="Interrupted", exit_code=ExitCode.INTERRUPTED
        ) from None


def _wait_for(cli: CliContext, name: str, deadline: Deadline) -> None:
    told = ""
    while True:
        phase, message = _look(cli, name)
        if phase == _DONE:
            cli.terminal.note(f"{name}: gone from the store.")
            return
        if phase in _STOPPED:
            raise CommandFailure(
                printable(f"{name}: {phase}. {message}"), code=phase, exit_code=ExitCode.CONFLICT, hint=""
            )
        line = f"{name}: {phase}{f': {message}' if message else ''}"
        if line != told:
            cli.terminal.note(printable(line))
            told = line
        deadline.check()
        pause_a_moment(cli.clock)


def _look(cli: CliContext, name: str) -> tuple[str, str]:
    """(phase, message); one that is no longer kept has long been carried out."""
    with cli.connect() as client:
        try:
            status = client.look(f"deletions/{name}").get("status", {})
        except NotFound:
            return _DONE, ""
    return str(status.get("phase", "")), str(status.get("message", ""))

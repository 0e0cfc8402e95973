"""The verb `cancel`: call work off, never without a yes, and tell honestly how it ends."""

from dataclasses import dataclass
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import failure_of
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import Job
from tidegate.cli.http.wire import Wire, uid_of
from tidegate.cli.options import read_timeout
from tidegate.cli.output.asking import ask_whether_to
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.verbs.waiting import wait_for_each
from tidegate.errors import TidegateError

# Who cancels wants it cancelled; any other end came first.
_CODES = {
    "Canceled": ExitCode.DONE,
    "Completed": ExitCode.CONFLICT,
    "PartiallyFailed": ExitCode.CONFLICT,
    "Failed": ExitCode.CONFLICT,
}
_WAITS = frozenset({"New", "Queued", "ReadyToStart"})


@dataclass(frozen=True)
class CancelWishes:
    """The options of every verb that calls off."""

    wait: Annotated[
        bool,
        typer.Option("--wait", help="Wait for the end; exit code 6 if one was done before it could be cancelled."),
    ] = False
    timeout: options.Timeout = ""
    yes: options.Yes = False


def cancel(cli: CliContext, noun: Job, given: list[str], wishes: CancelWishes) -> None:
    """Ask, call each off whatever happens to the others, and with --wait stay until they have ended."""
    timeout = read_timeout(wishes.timeout)
    names = list(dict.fromkeys(given))
    if not wishes.yes:
        ask_whether_to(cli, "cancel", noun, names, done="cancelled")
    with cli.connect() as client:
        stopping = _cancel_each(cli, client, noun, names, wait=wishes.wait)
    if wishes.wait:
        wait_for_each(cli, noun, stopping, timeout=timeout, output=OutputFormat.NAME, codes=_CODES)


def _cancel_each(cli: CliContext, client: Client, noun: Job, names: list[str], *, wait: bool) -> dict[str, str]:
    """The uids of those that will end soon, by name."""
    stopping: dict[str, str] = {}
    for name in names:
        try:
            wire = client.cancel(noun, name)
        except TidegateError as error:
            if len(names) == 1:
                raise
            cli.report(failure_of(error))
            continue
        stopping[name] = uid_of(wire)
        cli.terminal.note(_what_follows(noun, name, wire))
        if not wait:  # else the name comes at the end
            cli.terminal.out(f"{noun.tag}/{name}")
    return stopping


def _what_follows(noun: Job, name: str, wire: Wire) -> str:
    phase = str(wire.get("status", {}).get("phase", "New"))
    if phase in _WAITS:
        return f"Cancelling {noun.word} {name}: it leaves the queue and ends as Canceled."
    if phase == "InProgress":
        return f"Cancelling {noun.word} {name}: its transfers stop, then it ends as Canceled."
    return f"The {noun.word} {name} is {phase}: all its data is moved, so it ends as it would have."

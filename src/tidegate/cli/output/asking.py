"""Asking before something is lost: once for all that is meant, and never where nobody can answer."""

from collections.abc import Sequence

import typer

from tidegate.cli.context import CliContext
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import CommandFailure, wrong_usage
from tidegate.cli.http.nouns import Noun


def ask_whether_to(cli: CliContext, verb: str, noun: Noun, names: Sequence[str], *, done: str) -> None:
    """Return if the answer is yes; `done` is the verb for what was not done then."""
    what = f"{noun.word} {names[0]}" if len(names) == 1 else f"{len(names)} {noun.word}s ({', '.join(names)})"
    if not cli.terminal.asks:
        raise wrong_usage(f"Nobody is here to ask whether to {verb} the {what}.", hint="Say so with --yes.")
    if not typer.confirm(f"{verb.capitalize()} the {what}?", err=True):
        raise CommandFailure(f"Nothing was {done}.", code="Declined", exit_code=ExitCode.FAILED)

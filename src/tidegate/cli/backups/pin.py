"""`backup pin` and `backup unpin`: backups that only a person may delete."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import BACKUP
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import show_one

Name = Annotated[str, options.name_of(BACKUP)]


def pin(ctx: typer.Context, name: Name, output: options.Output = None) -> None:
    """Keep a backup: neither its ttl nor the retention of its schedule deletes it."""
    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.ask_for(BACKUP, name, "pin")
    cli.terminal.note(f"Pinned backup {name}: it stays until you unpin or delete it.")
    show_one(cli, BACKUP, wire, output or OutputFormat.NAME)


def unpin(ctx: typer.Context, name: Name, output: options.Output = None) -> None:
    """Let a backup go when its time is over, as any other; if it is over already, it goes now."""
    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.ask_for(BACKUP, name, "unpin")
    cli.terminal.note(f"Unpinned backup {name}.")
    show_one(cli, BACKUP, wire, output or OutputFormat.NAME)


def add_pin_verbs(app: typer.Typer) -> None:
    """Attach them."""
    codes = (ExitCode.NOT_FOUND, ExitCode.CONFLICT)
    app.command("pin", epilog=epilog("tidegate backup pin before-upgrade", codes=codes))(pin)
    app.command("unpin", epilog=epilog("tidegate backup unpin before-upgrade", codes=codes))(unpin)

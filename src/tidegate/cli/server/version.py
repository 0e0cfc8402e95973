"""`tidegate version`: of this command and of the server, which people compare first."""

import json
from typing import Annotated

import typer

from tidegate import __version__
from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import yaml_text
from tidegate.errors import TidegateError
from tidegate.format.blocks.checksum import side_by_side

EPILOG = epilog("tidegate version", "tidegate version --client -o json")


def version(
    ctx: typer.Context,
    *,
    client_only: Annotated[bool, typer.Option("--client", help="Do not ask the server.")] = False,
    output: options.Output = None,
) -> None:
    """Show the versions of this command and of the server. A server that is away is no error here.

    Also how many blocks are hashed at once: eight where it was built with a compiler and the processor has AVX-512.
    """
    cli = context_of(ctx)
    form = output or OutputFormat.TABLE
    versions = {"client": __version__} if client_only else {"client": __version__, "server": _server_version(cli)}
    at_once = side_by_side()
    if form.for_programs:
        told = {**versions, "blocksHashedAtOnce": at_once}
        cli.terminal.out(yaml_text(told) if form is OutputFormat.YAML else json.dumps(told))
        return
    for side, text in versions.items():
        cli.terminal.out(f"{side}  {text or 'not reachable'}")
    cli.terminal.out(f"hashes  {f'{at_once} blocks at once' if at_once > 1 else 'one block after the other'}")


def _server_version(cli: CliContext) -> str | None:
    try:
        with cli.connect() as client:
            return client.server_version()
    except TidegateError as error:
        cli.terminal.note(f"Note: {error.message}")
        return None

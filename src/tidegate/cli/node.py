"""`tidegate node`: where data is moved."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.getting import Query, get
from tidegate.cli.nouns import NODE
from tidegate.cli.options import epilog

app = typer.Typer(no_args_is_help=True, help="Nodes: the machines that move data.")


@app.callback()
def node() -> None:
    """Nodes: the machines that move data."""


@app.command("get", epilog=epilog("tidegate node get -o wide", codes=(ExitCode.NOT_FOUND, ExitCode.INTERRUPTED)))
def get_nodes(
    ctx: typer.Context,
    *,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Only these; none means all.", autocompletion=names_of(NODE)),
    ] = None,
    selector: options.Selector = "",
    output: options.Output = None,
    watch: options.Watch = False,
) -> None:
    """List nodes."""
    get(context_of(ctx), NODE, Query(tuple(names or ()), "", selector, output, watch))

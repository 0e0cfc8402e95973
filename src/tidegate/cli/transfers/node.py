"""`tidegate node`: where data is moved."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import NODE
from tidegate.cli.http.wire import read_resource
from tidegate.cli.options import epilog
from tidegate.cli.output.resources import show_sections
from tidegate.cli.verbs.attach import add_get

app = typer.Typer(no_args_is_help=True, help="Nodes: the machines that move data.")

add_get(app, NODE, "List nodes with what each carries.", examples=("tidegate node get -o wide",))


@app.command("describe", epilog=epilog("tidegate node describe node-a", codes=(ExitCode.NOT_FOUND,)))
def describe(
    ctx: typer.Context,
    name: Annotated[str, options.name_of(NODE)],
) -> None:
    """Tell all about one node: its labels, what it carries, and which number limits it."""
    from tidegate.model.transfers.node import Node
    from tidegate.views.transfers.node import describe_node

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.get(NODE, name)
    show_sections(cli, describe_node(read_resource((Node,), wire), cli.reader()))

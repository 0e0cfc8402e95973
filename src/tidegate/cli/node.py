"""`tidegate node`: where data is moved."""

import typer

from tidegate.cli.nouns import NODE
from tidegate.cli.verbs import add_get

app = typer.Typer(no_args_is_help=True, help="Nodes: the machines that move data.")


@app.callback()
def node() -> None:
    """Nodes: the machines that move data."""


add_get(app, NODE, "List nodes.", examples=("tidegate node get -o wide",))

"""`tidegate namespace`: groups of volumes that belong to one application."""

from collections.abc import Iterable
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import NAMESPACE, VOLUME
from tidegate.cli.http.wire import read_all
from tidegate.cli.options import epilog, read_labels
from tidegate.cli.verbs.attach import add_delete, add_get
from tidegate.cli.verbs.creating import Creation, create, new_resource

app = typer.Typer(no_args_is_help=True, help="Namespaces: groups of volumes that belong together.")

Names = Annotated[
    list[str] | None,
    options.only_these(NAMESPACE),
]


@app.command(
    "create", epilog=epilog("tidegate namespace create shop -l team=web", codes=(ExitCode.REJECTED, ExitCode.CONFLICT))
)
def create_namespace(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new namespace.")],
    labels: options.Labels = None,
    dry_run: options.DryRun = False,
    output: options.Output = None,
) -> None:
    """Name a namespace."""
    resource = new_resource("Namespace", name, {}, labels=read_labels(labels))
    create(context_of(ctx), NAMESPACE, Creation(resource, output, dry_run))


def _volumes_inside(client: Client, names: list[str]) -> Iterable[str]:
    from tidegate.model.volumes.volume import Volume
    from tidegate.views.dependents import dependents_of_namespace

    volumes = read_all((Volume,), client.list(VOLUME.plural).items)
    return [sentence for name in names for sentence in dependents_of_namespace(name, volumes)]


add_get(app, NAMESPACE, "List namespaces.", examples=("tidegate namespace get -o name",))
add_delete(
    app,
    NAMESPACE,
    "Forget namespaces. Asks first.",
    examples=("tidegate namespace delete shop",),
    dependents=_volumes_inside,
)

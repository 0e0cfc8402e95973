"""`tidegate namespace`: groups of volumes that belong to one application."""

from collections.abc import Iterable
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.client import Client
from tidegate.cli.completion import names_of
from tidegate.cli.context import context_of
from tidegate.cli.creating import Creation, create, new_resource
from tidegate.cli.deleting import Deletion, delete
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.getting import Query, get
from tidegate.cli.nouns import NAMESPACE, VOLUME
from tidegate.cli.options import epilog, read_labels
from tidegate.cli.wire import read_all

app = typer.Typer(no_args_is_help=True, help="Namespaces: groups of volumes that belong together.")

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Only these; none means all.", autocompletion=names_of(NAMESPACE)),
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


@app.command("get", epilog=epilog("tidegate namespace get -o name", codes=(ExitCode.NOT_FOUND, ExitCode.INTERRUPTED)))
def get_namespaces(
    ctx: typer.Context,
    *,
    names: Names = None,
    selector: options.Selector = "",
    output: options.Output = None,
    watch: options.Watch = False,
) -> None:
    """List namespaces."""
    get(context_of(ctx), NAMESPACE, Query(tuple(names or ()), "", selector, output, watch))


@app.command(
    "delete",
    epilog=epilog(
        "tidegate namespace delete shop",
        codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT, ExitCode.WAITED_TOO_LONG),
    ),
)
def delete_namespaces(
    ctx: typer.Context,
    *,
    names: Names = None,
    every: Annotated[bool, typer.Option("--all", help="All of them, or with -l all that are selected.")] = False,
    selector: options.Selector = "",
    yes: options.Yes = False,
    dry_run: options.DryRun = False,
    wait: options.Wait = False,
    timeout: options.Timeout = "",
) -> None:
    """Forget namespaces. Asks first."""
    deletion = Deletion(tuple(names or ()), every, selector, yes, dry_run, wait, timeout)
    delete(context_of(ctx), NAMESPACE, deletion, dependents=_volumes_inside)


def _volumes_inside(client: Client, names: list[str]) -> Iterable[str]:
    from tidegate.model.volume import Volume
    from tidegate.views.dependents import dependents_of_namespace

    volumes = read_all((Volume,), client.list(VOLUME.plural).items)
    return [sentence for name in names for sentence in dependents_of_namespace(name, volumes)]

"""`tidegate volume`: what there is to protect."""

from collections.abc import Iterable
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import NODE, TRANSFER, VOLUME
from tidegate.cli.http.wire import read_all, read_resource
from tidegate.cli.option_groups import with_option_groups
from tidegate.cli.options import epilog, read_labels
from tidegate.cli.output.resources import show_sections
from tidegate.cli.verbs.creating import Creation, create, new_resource
from tidegate.cli.verbs.deleting import Deletion, DeletionWishes, delete
from tidegate.cli.verbs.getting import ListWishes, NamespaceWishes, get, place_of

app = typer.Typer(no_args_is_help=True, help="Volumes: directories, images and devices to protect.")

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="NAME with -n, or NAMESPACE/NAME.", autocompletion=names_of(VOLUME))
]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME", help="Only these: NAME with -n, or NAMESPACE/NAME.", autocompletion=names_of(VOLUME)
    ),
]


@app.command(
    "create",
    epilog=epilog(
        "tidegate volume create db -n shop --directory ./data",
        "tidegate volume create home -n users --directory /home --exclude .cache --exclude '*.tmp'",
        "tidegate volume create disk -n vms --image /var/lib/vms/disk.img -l app=vm",
        codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND, ExitCode.CONFLICT),
    ),
)
def create_volume(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="NAME with -n, or NAMESPACE/NAME.")],
    namespace: options.InNamespace = "",
    directory: Annotated[str, typer.Option(metavar="PATH", help="A directory tree.")] = "",
    image: Annotated[str, typer.Option(metavar="PATH", help="A disk image file.")] = "",
    device: Annotated[str, typer.Option(metavar="PATH", help="A block device.")] = "",
    claim: Annotated[
        str, typer.Option(metavar="NAMESPACE/NAME", help="A PersistentVolumeClaim; on Kubernetes only.")
    ] = "",
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Leave these paths of the directory out; repeated.")
    ] = None,
    node: Annotated[
        str, typer.Option(metavar="NODE", help="The node that it is on; none: any.", autocompletion=names_of(NODE))
    ] = "",
    labels: options.Labels = None,
    dry_run: options.DryRun = False,
    output: options.Output = None,
) -> None:
    """Name a volume, so that backups of its namespace include it."""
    cli = context_of(ctx)
    paths = {"directory": directory, "image": image, "device": device}
    # A relative path would mean another thing to the server than to the person who typed it.
    spec: dict[str, object] = {kind: str(cli.environment.absolute(path)) for kind, path in paths.items() if path}
    if claim:
        spec["claim"] = claim
    if len(spec) != 1:
        raise wrong_usage("Where is the data?", hint="Give exactly one of --directory, --image, --device and --claim.")
    if exclude:
        spec["excludes"] = exclude
    if node:
        spec["node"] = node
    short_name, place = place_of(VOLUME, name, namespace)
    resource = new_resource("Volume", short_name, spec, labels=read_labels(labels), namespace=place)
    create(cli, VOLUME, Creation(resource, output, dry_run))


@app.command(
    "get",
    epilog=epilog(
        "tidegate volume get",
        "tidegate volume get -n shop -o wide",
        "tidegate volume get shop/db -o yaml",
        codes=(ExitCode.NOT_FOUND, ExitCode.INTERRUPTED),
    ),
)
@with_option_groups
def get_volumes(
    ctx: typer.Context,
    *,
    names: Names = None,
    where: NamespaceWishes,
    wishes: ListWishes,
) -> None:
    """List volumes and when each was last backed up."""
    get(context_of(ctx), VOLUME, wishes.query(names, namespace=where.checked()))


@app.command("describe", epilog=epilog("tidegate volume describe shop/db", codes=(ExitCode.NOT_FOUND,)))
def describe(
    ctx: typer.Context, name: Name, namespace: options.InNamespace = "", exact_bytes: options.ExactBytes = False
) -> None:
    """Tell all about one volume."""
    from tidegate.model.volumes.volume import Volume
    from tidegate.views.volumes.volume import describe_volume

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.get(VOLUME, *place_of(VOLUME, name, namespace))
    show_sections(cli, describe_volume(read_resource((Volume,), wire), cli.reader(exact_bytes=exact_bytes)))


@app.command(
    "delete",
    epilog=epilog(
        "tidegate volume delete shop/db",
        "tidegate volume delete --all -n shop --yes",
        codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT, ExitCode.WAITED_TOO_LONG),
    ),
)
@with_option_groups
def delete_volumes(
    ctx: typer.Context,
    *,
    names: Names = None,
    namespace: options.InNamespace = "",
    every: Annotated[
        bool, typer.Option("--all", help="All of the namespace, or with -l all that are selected.")
    ] = False,
    wishes: DeletionWishes,
) -> None:
    """Forget volumes; their data and their backups stay. Asks first."""
    deletion = Deletion(tuple(names or ()), every, wishes, namespace)
    delete(context_of(ctx), VOLUME, deletion, dependents=_moving_transfers)


def _moving_transfers(client: Client, names: list[str]) -> Iterable[str]:
    from tidegate.model.transfers.transfer import TRANSFERS
    from tidegate.views.dependents import dependents_of_volume

    transfers = read_all(TRANSFERS, (wire for plural in TRANSFER.plurals for wire in client.list(plural).items))
    return [sentence for name in names for sentence in dependents_of_volume(name, transfers)]

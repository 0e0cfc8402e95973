"""`tidegate target`: the stores that backups go to."""

from collections.abc import Iterable
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import BACKUP, TARGET
from tidegate.cli.http.wire import Wire, read_all, read_model, read_resource
from tidegate.cli.options import epilog, read_labels
from tidegate.cli.output.resources import show_sections
from tidegate.cli.stores.target_adopt import adopt
from tidegate.cli.stores.target_sync import SYNC_CODES, sync
from tidegate.cli.verbs.attach import add_delete, add_get
from tidegate.cli.verbs.creating import Creation, create, new_resource

app = typer.Typer(no_args_is_help=True, help="Targets: the stores that backups go to.")

Name = Annotated[str, options.name_of(TARGET)]


@app.command(
    "create",
    epilog=epilog(
        "tidegate target create usb /mnt/usb/backups --default",
        "tidegate target create offsite s3://bucket@eu-central-1/backups --credential-secret offsite",
        codes=(ExitCode.REJECTED, ExitCode.CONFLICT),
    ),
)
def create_target(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new target.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="URL of the store, or a path on the server's machine.")],
    default: Annotated[bool, typer.Option("--default", help="For backups that name no target.")] = False,
    poll_interval: Annotated[
        str,
        typer.Option(metavar="DURATION", help="How often to look for what others wrote, such as 5m; 0: when asked."),
    ] = "",
    credential_secret: Annotated[
        str,
        typer.Option(metavar="NAME", help="Secret with the credentials: a file in secrets/ of the server's data."),
    ] = "",
    labels: options.Labels = None,
    dry_run: options.DryRun = False,
    output: options.Output = None,
) -> None:
    """Name a store. The server checks at once whether it can be used."""
    cli = context_of(ctx)
    spec: Wire = {
        "url": _store_url(cli, url),
        "default": default or None,
        "pollInterval": poll_interval,
        "credentialSecret": credential_secret,
    }
    resource = new_resource("BackupTarget", name, spec, labels=read_labels(labels))
    create(cli, TARGET, Creation(resource, output, dry_run))


def _store_url(cli: CliContext, url: str) -> str:
    """A bare path becomes a file URL, seen from where it was typed."""
    return url if "://" in url else cli.environment.absolute(url).as_uri()


@app.command("describe", epilog=epilog("tidegate target describe usb", codes=(ExitCode.NOT_FOUND,)))
def describe(ctx: typer.Context, name: Name) -> None:
    """Tell all about one target."""
    from tidegate.model.stores.catalogue_status import CatalogueDamage
    from tidegate.model.stores.target import BackupTarget
    from tidegate.views.stores.target import describe_target

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.get(TARGET, name)
        damage = read_model(CatalogueDamage, client.look(f"catalogue/damage/{name}"), name)
    show_sections(cli, describe_target(read_resource((BackupTarget,), wire), cli.reader(), damage))


app.command(
    "sync",
    epilog=epilog(
        "tidegate target sync usb --wait",
        "tidegate target sync offsite --volume pvc-1234 --wait --timeout 10m",
        "tidegate target sync offsite --confirm-vanished 3f2a91c07b55",
        codes=(ExitCode.NOT_FOUND, ExitCode.REJECTED, ExitCode.CONFLICT, *SYNC_CODES),
    ),
)(sync)


app.command(
    "adopt",
    epilog=epilog(
        "tidegate target adopt usb",
        "tidegate target adopt offsite --yes",
        codes=(ExitCode.NOT_FOUND, ExitCode.REJECTED, ExitCode.CONFLICT),
    ),
)(adopt)


def _kept_backups(client: Client, names: list[str]) -> Iterable[str]:
    from tidegate.model.backups.backup import Backup
    from tidegate.views.dependents import dependents_of_target

    backups = read_all((Backup,), client.list(BACKUP.plural).items)
    return [sentence for name in names for sentence in dependents_of_target(name, backups)]


add_get(
    app,
    TARGET,
    "List targets and whether they answer.",
    examples=("tidegate target get", "tidegate target get usb -o yaml"),
)
add_delete(
    app,
    TARGET,
    "Forget targets; what is in the store stays there. Asks first.",
    examples=("tidegate target delete usb",),
    dependents=_kept_backups,
)

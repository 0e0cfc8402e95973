"""`tidegate restore`: bring back what a backup holds."""

from datetime import UTC
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.creating import Creation, create, new_resource, send
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.formats import ExistingData
from tidegate.cli.nouns import BACKUP, NAMESPACE, RESTORE, VOLUME
from tidegate.cli.options import epilog, read_labels, read_timeout, split_commas
from tidegate.cli.output import show_sections
from tidegate.cli.verbs import WAIT_CODES, add_delete, add_get, add_wait
from tidegate.cli.waiting import transfers_of, wait_for_job
from tidegate.cli.wire import Wire, read_all, read_resource, uid_of

app = typer.Typer(no_args_is_help=True, help="Restores: requests to bring back what a backup holds.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the restore.", autocompletion=names_of(RESTORE))]
Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Only these; none means all.", autocompletion=names_of(RESTORE)),
]


@app.command(
    "create",
    epilog=epilog(
        "tidegate restore create --from-backup nightly --wait",
        "tidegate restore create look --from-backup nightly --to ./look --include-volumes shop/db",
        "tidegate restore create --from-backup nightly --existing-data overwrite --dry-run",
        codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT, *WAIT_CODES),
    ),
)
def create_restore(
    ctx: typer.Context,
    *,
    from_backup: Annotated[
        str, typer.Option(metavar="BACKUP", help="The backup to restore from.", autocompletion=names_of(BACKUP))
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the new restore; empty: <backup>-<yyyymmddhhmmss>, in UTC.")
    ] = "",
    to: Annotated[
        str, typer.Option(metavar="DIRECTORY", help="Put each volume below this directory; empty: where it came from.")
    ] = "",
    include_namespaces: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Namespaces, by commas; empty: all.", autocompletion=names_of(NAMESPACE)),
    ] = "",
    include_volumes: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Volumes as NAMESPACE/NAME, by commas; empty: all.", autocompletion=names_of(VOLUME)
        ),
    ] = "",
    existing_data: Annotated[
        ExistingData,
        typer.Option(help="Where something is already: leave it alone and fail that volume, or overwrite."),
    ] = ExistingData.NONE,
    labels: options.Labels = None,
    dry_run: options.DryRun = False,
    wait: options.Wait = False,
    timeout: options.Timeout = "",
    output: options.Output = None,
) -> None:
    """Ask for a restore."""
    cli = context_of(ctx)
    limit = read_timeout(timeout)
    restore_name = name or _name_after(cli, from_backup)
    spec: Wire = {
        "backupName": from_backup,
        "destination": str(cli.environment.absolute(to)) if to else None,
        "includedNamespaces": split_commas(include_namespaces),
        "includedVolumes": split_commas(include_volumes),
        "existingData": str(existing_data),
    }
    resource = new_resource("Restore", restore_name, spec, labels=read_labels(labels))
    creation = Creation(resource, output, dry_run)
    if wait and not dry_run:
        wire = send(cli, RESTORE, creation)
        wait_for_job(cli, RESTORE, restore_name, uid=uid_of(wire), timeout=limit, output=output)
    else:
        create(cli, RESTORE, creation)


def _name_after(cli: CliContext, backup: str) -> str:
    return f"{backup}-{cli.clock.now().astimezone(UTC):%Y%m%d%H%M%S}"


@app.command("describe", epilog=epilog("tidegate restore describe look", codes=(ExitCode.NOT_FOUND,)))
def describe(ctx: typer.Context, name: Name, exact_bytes: options.ExactBytes = False) -> None:
    """Tell all about one restore: why it waits, how far it is, each volume, what went wrong."""
    from tidegate.model.restore import Restore
    from tidegate.model.transfer import TRANSFERS
    from tidegate.views.restore import describe_restore

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.get(RESTORE, name)
        transfers = transfers_of(client, RESTORE, wire)
    restore = read_resource((Restore,), wire)
    show_sections(cli, describe_restore(restore, read_all(TRANSFERS, transfers), cli.reader(exact_bytes=exact_bytes)))


add_get(app, RESTORE, "List restores.", examples=("tidegate restore get", "tidegate restore get -w -o wide"))
add_delete(
    app,
    RESTORE,
    "Delete restores; what they brought back stays. Asks first.",
    examples=("tidegate restore delete look", "tidegate restore delete --all --yes"),
)
add_wait(app, RESTORE, example="tidegate restore wait look --timeout 30m")

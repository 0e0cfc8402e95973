"""`tidegate backup-volume`: what the stores hold of each volume."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import BACKUP_VOLUME, TARGET
from tidegate.cli.http.wire import Wire, read_model
from tidegate.cli.options import epilog, read_timeout
from tidegate.cli.output.asking import ask_whether_to
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.listings import Query, pages, show_document, show_listing, tell_what_is_not_read
from tidegate.cli.output.resources import show_sections, show_table
from tidegate.cli.stores.catalog import volume_name
from tidegate.cli.stores.deletion_waiting import wait_for_deletions

app = typer.Typer(no_args_is_help=True, help="Backup volumes: what the stores hold of each volume.")

_NAMED = "A volume's name in the store, or NAME@TARGET where several targets have it."
_SHOWN_BACKUPS = 20
InTarget = Annotated[
    str, typer.Option("-t", "--target", metavar="NAME", help="Only in this target.", autocompletion=names_of(TARGET))
]


@app.command(
    "get",
    epilog=epilog(
        "tidegate backup-volume get",
        "tidegate backup-volume get -t offsite -n shop -o wide",
        "tidegate backup-volume get pvc-1234@offsite -o json",
        codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT),
    ),
)
def get_volumes(
    ctx: typer.Context,
    *,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help=f"Only these. {_NAMED}")] = None,
    target: InTarget = "",
    namespace: options.InNamespace = "",
    output: options.Output = None,
) -> None:
    """List volumes with how much of them is stored, from the catalogue: no store is asked."""
    from tidegate.views.stores.catalogue import BACKUP_VOLUMES

    cli = context_of(ctx)
    form = output or OutputFormat.TABLE
    if names and (target or namespace):
        raise wrong_usage("Give names, or what to select by, but not both.")
    query: Query = {name: text for name, text in (("target", target), ("namespace", namespace)) if text}
    with cli.connect() as client:
        if names:
            wires = [client.get(BACKUP_VOLUME, name) for name in names]
            if len(wires) == 1 and show_document(cli, wires[0], form):
                return
        else:
            wires = list(pages(client, "catalogue/volumes", query, at_most=None, hear=tell_what_is_not_read(cli)))
    show_listing(cli, iter(wires), form, view=BACKUP_VOLUMES, name=volume_name, nothing="No backup volumes found.")


@app.command(
    "describe",
    epilog=epilog("tidegate backup-volume describe pvc-1234", codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT)),
)
def describe(ctx: typer.Context, name: Annotated[str, typer.Argument(metavar="NAME", help=_NAMED)]) -> None:
    """Tell all about one volume in a store, with its newest backups."""
    from tidegate.model.stores.catalogue_listing import ListedBackup, ListedVolume
    from tidegate.views.stores.catalogue import VOLUME_BACKUPS, describe_volume

    cli = context_of(ctx)
    with cli.connect() as client:
        volume = read_model(ListedVolume, client.get(BACKUP_VOLUME, name), "backup volume")
        query: Query = {"volume": volume.name, "target": volume.backup_target_name}
        found = list(pages(client, "catalogue/backups", query, at_most=_SHOWN_BACKUPS))
    show_sections(cli, describe_volume(volume, cli.reader()))
    cli.terminal.out("")
    show_table(cli, VOLUME_BACKUPS, [read_model(ListedBackup, wire, "backup") for wire in found], wide=False)
    if volume.backup_count > len(found):
        cli.terminal.note(
            f"The newest {len(found)} of {volume.backup_count}; all: tidegate catalog search --volume {name}"
        )


@app.command(
    "delete",
    epilog=epilog(
        "tidegate backup-volume delete pvc-1234@offsite",
        "tidegate backup-volume delete pvc-1234 --backup backup-02224cb26b794e73 --yes --wait",
        codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT, ExitCode.WAITED_TOO_LONG),
    ),
)
def delete(
    ctx: typer.Context,
    *,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help=f"Which. {_NAMED}", show_default=False)],
    backup: Annotated[
        list[str] | None, typer.Option(metavar="BACKUP", help="Not the volume, only this backup of it; repeatable.")
    ] = None,
    yes: options.Yes = False,
    wait: options.Wait = False,
    timeout: options.Timeout = "",
) -> None:
    """Delete volumes, or some of their backups, from their stores. Gone from all lists at once. Asks first."""
    cli = context_of(ctx)
    patience = read_timeout(timeout)
    if backup and len(names) > 1:
        raise wrong_usage("--backup names backups of one volume.", hint="Give one NAME.")
    with cli.connect() as client:
        volumes = [client.get(BACKUP_VOLUME, name) for name in dict.fromkeys(names)]
        if not yes:
            _ask(cli, volumes, backup or [])
        asked = [_delete(cli, client, volume, backup or []) for volume in volumes]
    if wait:
        wait_for_deletions(cli, asked, timeout=patience)


def _ask(cli: CliContext, volumes: list[Wire], backups: list[str]) -> None:
    if backups:
        named = [f"{volumes[0]['id']}: {name}" for name in backups]
    else:
        named = [f"{volume['id']} with all of its {volume['backupCount']} backups" for volume in volumes]
    ask_whether_to(cli, "delete", BACKUP_VOLUME, named, done="deleted")


def _delete(cli: CliContext, client: Client, volume: Wire, backups: list[str]) -> str:
    """The name of the deletion that was asked for."""
    identity = str(volume["id"])
    if backups:
        answer = client.act(BACKUP_VOLUME, identity, "backupDelete", {"names": backups})
        cli.terminal.note(f"Deleting {len(backups)} backup(s) of {identity}; the server removes them from the store.")
        deletion = str(answer["deletion"])
    else:
        deletion = str((client.delete(BACKUP_VOLUME, identity, dry_run=False) or {}).get("id", ""))
        cli.terminal.note(f"Deleting {identity}; the server removes it from the store.")
    cli.terminal.out(f"{BACKUP_VOLUME.word}/{identity}")
    return deletion

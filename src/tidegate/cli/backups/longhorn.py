"""`backup ls`, `inspect`, `inspect-volume` and `head`: Longhorn's own commands on a store, with Longhorn's own JSON.

By default as Longhorn's design documents them; with `--all-fields` as its program prints them today.
"""

from typing import Annotated

import typer

from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.options import epilog
from tidegate.cli.stores.store_access import place_of, volume_place

Url = Annotated[str, typer.Argument(metavar="URL", help="A store; for one backup STORE?backup=NAME&volume=NAME.")]

AllFields = Annotated[
    bool, typer.Option("--all-fields", help="Every field, empty ones too, as Longhorn's program prints it today.")
]


def ls(
    ctx: typer.Context,
    *,
    url: Url,
    volume: Annotated[str, typer.Option(metavar="NAME", help="Only this volume.")] = "",
    volume_only: Annotated[bool, typer.Option("--volume-only", help="Volumes without their backups.")] = False,
    all_fields: AllFields = False,
) -> None:
    """List what a store holds, as Longhorn does: volumes and the names of their backups."""
    from tidegate.datapath.inspection.listing import list_volumes
    from tidegate.format.cfgs import documented_json

    cli = context_of(ctx)
    place = volume_place(cli, url, volume) if volume else place_of(cli, url)
    found = list_volumes(place.objects, volume=place.volume, with_backups=not volume_only)
    _print(cli, found if all_fields else documented_json.listed(found, target=place.target))


def inspect(ctx: typer.Context, url: Url, all_fields: AllFields = False) -> None:
    """Tell about one backup of a store, or with a volume's URL about the volume, as Longhorn does."""
    from tidegate.datapath.inspection.listing import inspect_backup
    from tidegate.format.cfgs import documented_json

    cli = context_of(ctx)
    place = volume_place(cli, url)
    if not place.backup:
        inspect_volume(ctx, url, all_fields)
        return
    found = inspect_backup(place.stored(), place.backup, target=place.target)
    _print(cli, found if all_fields else documented_json.inspected_backup(found))


def inspect_volume(ctx: typer.Context, url: Url, all_fields: AllFields = False) -> None:
    """Tell about one volume of a store, as Longhorn does."""
    from tidegate.datapath.inspection import listing
    from tidegate.format.cfgs import documented_json

    cli = context_of(ctx)
    found = listing.inspect_volume(volume_place(cli, url).stored())
    _print(cli, found if all_fields else documented_json.inspected_volume(found))


def head(ctx: typer.Context, url: Url) -> None:
    """Tell when the record of a volume or of a backup was written."""
    from tidegate.datapath.inspection import listing

    cli = context_of(ctx)
    place = volume_place(cli, url)
    _print(cli, listing.head(place.stored(), place.backup))


def add_longhorn_verbs(app: typer.Typer) -> None:
    """Attach them."""
    codes = (ExitCode.NOT_FOUND, ExitCode.CONFLICT, ExitCode.REJECTED)
    volume_url = "'/mnt/backups?volume=pvc-1'"
    backup_url = "'/mnt/backups?backup=backup-1&volume=pvc-1'"
    app.command(
        "ls",
        epilog=epilog(
            "tidegate backup ls s3://backupbucket@minio/ --volume-only",
            "tidegate backup ls /mnt/backups --volume pvc-1",
            codes=codes,
        ),
    )(ls)
    app.command("inspect", epilog=epilog(f"tidegate backup inspect {backup_url}", codes=codes))(inspect)
    app.command("inspect-volume", epilog=epilog(f"tidegate backup inspect-volume {volume_url}", codes=codes))(
        inspect_volume
    )
    app.command("head", epilog=epilog(f"tidegate backup head {volume_url}", codes=codes))(head)


def _print(cli: CliContext, document: dict[str, object]) -> None:
    from tidegate.format.cfgs.go_json import encode_document

    cli.terminal.out(encode_document(document))

"""`tidegate catalog`: what all stores hold, found at once, and how old that knowledge is."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import BACKUP_VOLUME, TARGET
from tidegate.cli.http.whole_watch import watch_whole
from tidegate.cli.http.wire import Wire, read_model
from tidegate.cli.option_groups import with_option_groups
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.listings import Query, pages, show_document, show_listing, tell_what_is_not_read
from tidegate.cli.output.resources import show_table
from tidegate.cli.stores.catalog_deleting import delete_matching
from tidegate.cli.stores.catalog_filter import FilterWishes
from tidegate.views.quantities import counted

app = typer.Typer(no_args_is_help=True, help="The catalogue: what all stores hold, found without asking them.")


@app.command(
    "search",
    epilog=epilog(
        "tidegate catalog search postgres",
        "tidegate catalog search -n shop --state Error",
        "tidegate catalog search --pvc 'data-*' --since 2026-01-01 --until 2026-02-01 -o jsonl",
        "tidegate catalog search --volumes --label RecurringJob=nightly",
        "tidegate catalog search -n shop --count",
        codes=(ExitCode.REJECTED,),
    ),
)
@with_option_groups
def search(
    ctx: typer.Context,
    *,
    wishes: FilterWishes,
    limit: options.Limit = 100,
    volumes: Annotated[bool, typer.Option("--volumes", help="Volumes that have such backups.")] = False,
    count: Annotated[bool, typer.Option("--count", help="Only how many there are.")] = False,
    output: options.Output = None,
) -> None:
    """Find volume backups in all targets, the newest first. As new as the last sync of each target."""
    cli = context_of(ctx)
    query = wishes.query(cli)
    with cli.connect() as client:
        if count:
            _show_counts(cli, client.look("catalogue/counts", query), output or OutputFormat.TABLE)
        else:
            _show_found(cli, client, query, limit, output or OutputFormat.TABLE, volumes=volumes)


def _show_found(
    cli: CliContext, client: Client, query: Query, limit: int, form: OutputFormat, *, volumes: bool
) -> None:
    from tidegate.views.stores.catalogue import BACKUP_VOLUMES, VOLUME_BACKUPS

    # One more than is shown tells whether there are more.
    path, hear = f"catalogue/{'volumes' if volumes else 'backups'}", tell_what_is_not_read(cli)
    found = list(pages(client, path, query, at_most=limit + 1, hear=hear))
    shown = iter(found[:limit])
    nothing = "Nothing found."
    if volumes:
        show_listing(cli, shown, form, view=BACKUP_VOLUMES, name=volume_name, nothing=nothing)
    else:
        show_listing(cli, shown, form, view=VOLUME_BACKUPS, name=lambda wire: str(wire["url"]), nothing=nothing)
    if len(found) > limit:
        cli.terminal.note(f"There are more than {limit}; narrow it down, or show more with --limit N.")


def volume_name(wire: Wire) -> str:
    """As `-o name` prints it."""
    return f"{BACKUP_VOLUME.word}/{wire['id']}"


@app.command(
    "delete",
    epilog=epilog(
        "tidegate catalog delete --volume pvc-1234 --until 90d --dry-run",
        "tidegate catalog delete -n old-shop --target offsite --yes",
        codes=(ExitCode.REJECTED, ExitCode.CONFLICT, ExitCode.PARTLY_MISSING),
    ),
)
@with_option_groups
def delete(
    ctx: typer.Context,
    *,
    wishes: FilterWishes,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """Delete all volume backups that match, from all lists at once and then from their stores. Asks first.

    The volumes themselves stay. If more match by the time you answer, nothing is deleted.
    """
    cli = context_of(ctx)
    delete_matching(cli, wishes.query(cli), dry_run=dry_run, yes=yes)


def _show_counts(cli: CliContext, wire: Wire, form: OutputFormat) -> None:
    if not show_document(cli, wire, form):
        more = "more than " if wire["more"] else ""
        backups, volumes = counted(wire["backups"], "backup"), counted(wire["volumes"], "volume")
        tell_what_is_not_read(cli)(wire)
        cli.terminal.out(f"{more}{backups} of {more}{volumes}")


@app.command(
    "status",
    epilog=epilog("tidegate catalog status", "tidegate catalog status -w", codes=(ExitCode.INTERRUPTED,)),
)
def status(
    ctx: typer.Context,
    *,
    output: options.Output = None,
    watch: Annotated[bool, options.watch_of("all of it")] = False,
) -> None:
    """Show how much the catalogue holds of each target, how old that is, and how the syncs go."""
    cli = context_of(ctx)
    form = output or OutputFormat.TABLE
    if watch:
        watch_whole(cli, TARGET.plurals, _look, lambda wire: _show_status(cli, wire, form))
        return
    with cli.connect() as client:
        _show_status(cli, _look(client), form)


def _look(client: Client) -> Wire:
    return client.look("catalogue/status")


def _show_status(cli: CliContext, wire: Wire, form: OutputFormat) -> None:
    from tidegate.model.stores.catalogue_status import CatalogueStatus
    from tidegate.views.stores.catalogue import SYNCED_TARGETS, catalogue_headline, confirm_command

    if form is OutputFormat.NAME:
        for one in wire["targets"]:
            cli.terminal.out(f"{TARGET.word}/{one['name']}")
        return
    if show_document(cli, wire, form):
        return
    found = read_model(CatalogueStatus, wire, "catalogue")
    cli.terminal.note(catalogue_headline(found))
    show_table(cli, SYNCED_TARGETS, found.targets, wide=form is OutputFormat.WIDE)
    for one in found.targets:
        if one.held_back:
            cli.terminal.note(f"If that is so, confirm it: {confirm_command(one.name, one.sync.vanished)}")

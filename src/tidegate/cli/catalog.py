"""`tidegate catalog`: what all stores hold, found at once, and how old that knowledge is."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.client import Client
from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.formats import OutputFormat
from tidegate.cli.listings import Query, pages, show_document, show_listing
from tidegate.cli.moments import read_moment
from tidegate.cli.nouns import BACKUP_VOLUME, TARGET
from tidegate.cli.options import epilog
from tidegate.cli.output import show_table
from tidegate.cli.whole_watch import watch_whole
from tidegate.cli.wire import Wire, read_model

app = typer.Typer(no_args_is_help=True, help="The catalogue: what all stores hold, found without asking them.")

_GLOB = "; * stands for any part."
Text = Annotated[str, typer.Argument(metavar="[TEXT]", help="A part of a volume, namespace, claim, workload or pod.")]
Since = Annotated[str, typer.Option(metavar="TIME", help="Made at this time or later: 2026-01-31, or 36h ago.")]
Until = Annotated[str, typer.Option(metavar="TIME", help="Made before this time.")]


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
def search(
    ctx: typer.Context,
    *,
    text: Text = "",
    volume: Annotated[str, typer.Option(metavar="NAME", help=f"Name of the volume in the store{_GLOB}")] = "",
    namespace: options.InNamespace = "",
    claim: Annotated[str, typer.Option("--claim", "--pvc", metavar="NAME", help=f"Volume claim{_GLOB}")] = "",
    workload: Annotated[str, typer.Option(metavar="NAME", help=f"Workload that used it{_GLOB}")] = "",
    pod: Annotated[str, typer.Option(metavar="NAME", help=f"Pod that used it{_GLOB}")] = "",
    label: Annotated[list[str] | None, typer.Option("-l", "--label", metavar="KEY[=VALUE]", help="Label.")] = None,
    target: Annotated[str, typer.Option(metavar="NAME", help="Target.", autocompletion=names_of(TARGET))] = "",
    state: Annotated[str, typer.Option(metavar="STATE", help="Completed, InProgress or Error.")] = "",
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Show at most so many.")] = 100,
    volumes: Annotated[bool, typer.Option("--volumes", help="Volumes that have such backups.")] = False,
    count: Annotated[bool, typer.Option("--count", help="Only how many there are.")] = False,
    output: options.Output = None,
) -> None:
    """Find volume backups in all targets, the newest first. As new as the last sync of each target."""
    cli = context_of(ctx)
    texts = {
        "search": text,
        "volume": volume,
        "namespace": namespace,
        "claim": claim,
        "workload": workload,
        "pod": pod,
        "target": target,
        "state": state,
        "since": read_moment(cli, since, "--since"),
        "until": read_moment(cli, until, "--until"),
    }
    query: Query = {name: value for name, value in texts.items() if value}
    if label:
        query["label"] = label
    with cli.connect() as client:
        if count:
            _show_counts(cli, client.look("catalogue/counts", query), output or OutputFormat.TABLE)
        else:
            _show_found(cli, client, query, limit, output or OutputFormat.TABLE, volumes=volumes)


def _show_found(
    cli: CliContext, client: Client, query: Query, limit: int, form: OutputFormat, *, volumes: bool
) -> None:
    from tidegate.views.catalogue import BACKUP_VOLUMES, VOLUME_BACKUPS

    # One more than is shown tells whether there are more.
    found = list(pages(client, f"catalogue/{'volumes' if volumes else 'backups'}", query, at_most=limit + 1))
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


def _show_counts(cli: CliContext, wire: Wire, form: OutputFormat) -> None:
    if not show_document(cli, wire, form):
        cli.terminal.out(f"{wire['backups']} backups of {wire['volumes']} volumes")


@app.command(
    "status",
    epilog=epilog("tidegate catalog status", "tidegate catalog status -w", codes=(ExitCode.INTERRUPTED,)),
)
def status(
    ctx: typer.Context,
    *,
    output: options.Output = None,
    watch: Annotated[bool, typer.Option("-w", "--watch", help="Go on: all of it again after each change.")] = False,
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
    from tidegate.model.catalogue_status import CatalogueStatus
    from tidegate.views.catalogue import SYNCED_TARGETS, catalogue_headline, confirm_command

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

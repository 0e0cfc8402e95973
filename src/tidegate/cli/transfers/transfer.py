"""`tidegate transfer`: single movements of single volumes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import BACKUP, RESTORE, TRANSFER, Job
from tidegate.cli.http.wire import Wire, read_resource, uid_of
from tidegate.cli.option_groups import with_option_groups
from tidegate.cli.options import epilog
from tidegate.cli.output.resources import show_sections
from tidegate.cli.verbs.getting import ListWishes, NamespaceWishes, get

app = typer.Typer(no_args_is_help=True, help="Transfers: movements of one volume's data each.")


@app.command(
    "get",
    epilog=epilog(
        "tidegate transfer get -w",
        "tidegate transfer get --backup nightly -o wide",
        "tidegate transfer get -n shop --bytes",
        codes=(ExitCode.NOT_FOUND, ExitCode.INTERRUPTED),
    ),
)
@with_option_groups
def get_transfers(
    ctx: typer.Context,
    *,
    names: Annotated[
        list[str] | None,
        options.only_these(TRANSFER),
    ] = None,
    backup: Annotated[
        str, typer.Option(metavar="BACKUP", help="Only those of this backup.", autocompletion=names_of(BACKUP))
    ] = "",
    restore: Annotated[
        str, typer.Option(metavar="RESTORE", help="Only those of this restore.", autocompletion=names_of(RESTORE))
    ] = "",
    where: NamespaceWishes,
    wishes: ListWishes,
) -> None:
    """List transfers with their bytes, their rate and what they wait for."""
    namespace = where.checked()
    cli = context_of(ctx)
    owned = [_label(cli, noun, name) for noun, name in ((BACKUP, backup), (RESTORE, restore)) if name]
    selected = ",".join(filter(None, [wishes.selector, *owned]))
    get(cli, TRANSFER, replace(wishes.query(names), selector=selected, keep=_of_namespace(namespace)))


def _label(cli: CliContext, noun: Job, name: str) -> str:
    with cli.connect() as client:
        return f"{noun.label}={uid_of(client.get(noun, name))}"


def _of_namespace(namespace: str) -> Callable[[Wire], bool]:
    return lambda wire: not namespace or wire["spec"].get("volumeNamespace") == namespace


@app.command("describe", epilog=epilog("tidegate transfer describe nightly-shop-db", codes=(ExitCode.NOT_FOUND,)))
def describe(
    ctx: typer.Context,
    *,
    name: Annotated[str, options.name_of(TRANSFER)],
    exact_bytes: options.ExactBytes = False,
) -> None:
    """Tell all about one transfer."""
    from tidegate.model.transfers.transfer import TRANSFERS
    from tidegate.views.transfers.transfer import describe_transfer

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.get(TRANSFER, name)
    show_sections(cli, describe_transfer(read_resource(TRANSFERS, wire), cli.reader(exact_bytes=exact_bytes)))

"""`tidegate deletion`: what shall go from the stores, and calling it off."""

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import failure_of
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import DELETION
from tidegate.cli.http.wire import read_resource
from tidegate.cli.options import epilog
from tidegate.cli.output.resources import show_sections
from tidegate.cli.verbs.getting import Query, get
from tidegate.errors import TidegateError

app = typer.Typer(no_args_is_help=True, help="Deletions: volume backups that go from a store, and how far that is.")


@app.command(
    "get",
    epilog=epilog(
        "tidegate deletion get",
        "tidegate deletion get -w -o wide",
        codes=(ExitCode.NOT_FOUND, ExitCode.INTERRUPTED),
    ),
)
def get_deletions(
    ctx: typer.Context,
    *,
    names: Annotated[
        list[str] | None,
        options.only_these(DELETION),
    ] = None,
    output: options.Output = None,
    watch: options.Watch = False,
) -> None:
    """List deletions that are under way, and those that ended within a day."""
    get(context_of(ctx), DELETION, Query(tuple(names or ()), "", "", output, watch))


@app.command("describe", epilog=epilog("tidegate deletion describe deletion-0123456789abcdef"))
def describe(
    ctx: typer.Context,
    name: Annotated[str, options.name_of(DELETION)],
) -> None:
    """Tell all about one deletion."""
    from tidegate.model.stores.deletion import Deletion
    from tidegate.views.stores.deletion import describe_deletion

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.get(DELETION, name)
    show_sections(cli, describe_deletion(read_resource((Deletion,), wire), cli.reader()))


@app.command(
    "cancel",
    epilog=epilog("tidegate deletion cancel deletion-0123456789abcdef", codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT)),
)
def cancel(
    ctx: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="Those to call off.", autocompletion=names_of(DELETION))
    ],
) -> None:
    """Call deletions off while they have not begun; what they named is in the lists again at once."""
    _each(
        context_of(ctx),
        names,
        lambda client, name: client.cancel(DELETION, name),
        "Cancelled deletion {name}: nothing more is deleted for it.",
    )


@app.command(
    "retry",
    epilog=epilog("tidegate deletion retry deletion-0123456789abcdef", codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT)),
)
def retry(
    ctx: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="Those to try at once.", autocompletion=names_of(DELETION))
    ],
) -> None:
    """Try deletions at once that failed and wait for their next try."""
    _each(
        context_of(ctx),
        names,
        lambda client, name: client.retry(DELETION, name),
        "Deletion {name} is tried again now.",
    )


def _each(cli: CliContext, names: Sequence[str], change: Callable[[Client, str], object], done: str) -> None:
    """One that is refused stops no other."""
    names = list(dict.fromkeys(names))
    with cli.connect() as client:
        for name in names:
            try:
                change(client, name)
            except TidegateError as error:
                if len(names) == 1:
                    raise
                cli.report(failure_of(error))
                continue
            cli.terminal.note(done.format(name=name))
            cli.terminal.out(f"{DELETION.word}/{name}")

"""`tidegate audit`: who changed what, and when."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.listings import Query, pages, show_listing
from tidegate.cli.output.moments import read_moment

EPILOG = epilog(
    "tidegate audit",
    "tidegate audit --who alice --since 24h",
    "tidegate audit --what backups/nightly -o wide",
    "tidegate audit --since 2026-01-01 --until 2026-02-01 --limit 100000 -o jsonl",
    codes=(ExitCode.REJECTED,),
)


def audit(
    ctx: typer.Context,
    *,
    who: Annotated[str, typer.Option(metavar="NAME", help="Exactly this user or token.")] = "",
    what: Annotated[str, typer.Option(metavar="TEXT", help="A part of what was changed: backups/nightly.")] = "",
    since: Annotated[str, typer.Option(metavar="TIME", help="At this time or later: 2026-01-31, or 36h ago.")] = "",
    until: Annotated[str, typer.Option(metavar="TIME", help="Before this time.")] = "",
    limit: options.Limit = 100,
    output: options.Output = None,
) -> None:
    """Show every change, every refusal and every login: the newest first."""
    from tidegate.views.access.access import AUDIT

    cli = context_of(ctx)
    texts = {
        "who": who,
        "what": what,
        "since": read_moment(cli, since, "--since"),
        "until": read_moment(cli, until, "--until"),
    }
    query: Query = {name: value for name, value in texts.items() if value}
    with cli.connect() as client:
        # One more than is shown tells whether there are more.
        found = list(pages(client, "audit", query, at_most=limit + 1))
    form = output or OutputFormat.TABLE
    show_listing(
        cli,
        iter(found[:limit]),
        form,
        view=AUDIT,
        name=lambda wire: f"{wire['at']} {wire['who']} {wire['what']}",
        nothing="Nothing found.",
    )
    if len(found) > limit:
        cli.terminal.note(f"There are more; the newest {limit} are shown. See more with --limit.")

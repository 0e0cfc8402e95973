"""`tidegate token`: what programs come in with."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.access.accounts import Role, remove_accounts, show_accounts
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import TOKEN
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.listings import show_document
from tidegate.cli.output.moments import read_coming_moment

app = typer.Typer(no_args_is_help=True, help="Tokens: what programs come in with. For administrators.")


@app.command(
    "create",
    epilog=epilog(
        "tidegate token create grafana --role viewer > grafana.token",
        "tidegate token create ci --role operator --expires 90d",
        "tidegate token create ci --role operator --expires 2027-01-01 -o json",
        codes=(ExitCode.REJECTED, ExitCode.CONFLICT),
    ),
)
def create(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    role: Role,
    expires: Annotated[
        str, typer.Option(metavar="TIME", help="When it is over: 90d, or 2027-01-01; empty: when it is revoked.")
    ] = "",
    output: options.Output = None,
) -> None:
    """Make a token and print it: the only time that anybody can see it."""
    cli = context_of(ctx)
    until = read_coming_moment(cli, expires, "--expires")
    body = {"name": name, "role": role, **({"expiresAt": until} if until else {})}
    with cli.connect() as client:
        issued = client.change("POST", TOKEN.plural, body=body)
    cli.terminal.note(f"Made token {name} ({role}). It is not shown again; use it with --token-file FILE.")
    if output is OutputFormat.NAME:
        cli.terminal.out(f"{TOKEN.word}/{name}")
    elif not show_document(cli, issued, output or OutputFormat.TABLE):
        cli.terminal.out(str(issued["token"]))


@app.command("get", epilog=epilog("tidegate token get", "tidegate token get ci -o json", codes=(ExitCode.NOT_FOUND,)))
def get(
    ctx: typer.Context,
    *,
    names: Annotated[list[str] | None, options.only_these()] = None,
    output: options.Output = None,
) -> None:
    """List tokens: their roles, when they end and when they were last used."""
    from tidegate.views.access.access import TOKENS

    show_accounts(context_of(ctx), TOKEN, TOKENS, names or (), output)


@app.command("revoke", epilog=epilog("tidegate token revoke ci --yes", codes=(ExitCode.NOT_FOUND,)))
def revoke(
    ctx: typer.Context,
    *,
    names: Annotated[list[str], options.which()],
    yes: options.Yes = False,
) -> None:
    """Let tokens open nothing any more, from this moment on. Asks first."""
    remove_accounts(context_of(ctx), TOKEN, names, verb="revoke", done="revoked", yes=yes)

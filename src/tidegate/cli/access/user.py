"""`tidegate user`: people who come in with a password."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.access.accounts import (
    ROLES,
    PasswordFile,
    Role,
    check_role,
    read_password,
    remove_accounts,
    show_accounts,
)
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import USER
from tidegate.cli.http.wire import Wire
from tidegate.cli.options import epilog

app = typer.Typer(no_args_is_help=True, help="Users: people who come in with a password. For administrators.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the user.")]


@app.command(
    "create",
    epilog=epilog(
        "tidegate user create alice --role operator",
        "pass show tidegate/alice | tidegate user create alice --role viewer --password-file -",
        codes=(ExitCode.REJECTED, ExitCode.CONFLICT),
    ),
)
def create(ctx: typer.Context, *, name: Name, role: Role, password_file: PasswordFile = "") -> None:
    """Let somebody in. Asks for the password, twice."""
    cli = context_of(ctx)
    body = {"name": name, "role": role, "password": read_password(cli, password_file)}
    with cli.connect() as client:
        client.change("POST", USER.plural, body=body)
    cli.terminal.note(f"{name} can log in now, as {role}.")
    cli.terminal.out(f"{USER.word}/{name}")


@app.command("get", epilog=epilog("tidegate user get", "tidegate user get -o wide", codes=(ExitCode.NOT_FOUND,)))
def get(
    ctx: typer.Context,
    *,
    names: Annotated[list[str] | None, options.only_these()] = None,
    output: options.Output = None,
) -> None:
    """List users: their roles and when they last logged in."""
    from tidegate.views.access.access import USERS

    show_accounts(context_of(ctx), USER, USERS, names or (), output)


@app.command(
    "set-password",
    epilog=epilog(
        "tidegate user set-password alice",
        "tidegate user set-password alice --password-file new-password",
        codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND),
    ),
)
def set_password(ctx: typer.Context, *, name: Name, password_file: PasswordFile = "") -> None:
    """Give a user another password; sessions that began with the old one are over."""
    cli = context_of(ctx)
    _change(cli, name, {"password": read_password(cli, password_file)}, f"{name} has another password.")


@app.command(
    "password",
    epilog=epilog(
        "tidegate user password alice",
        "tidegate user password alice --old-password-file old --password-file new",
        codes=(ExitCode.REJECTED,),
    ),
)
def password(
    ctx: typer.Context,
    *,
    name: Name,
    old_password_file: Annotated[
        str, typer.Option(metavar="FILE", help="File with the password that holds now. Without it you are asked.")
    ] = "",
    password_file: PasswordFile = "",
) -> None:
    """Change your own password: the old one lets you, whatever your role. Other sessions of yours are over."""
    cli = context_of(ctx)
    old = read_password(cli, old_password_file, prompt="Password that holds now", twice=False)
    new = read_password(cli, password_file, prompt="New password")
    with cli.connect() as client:
        client.change("POST", "password", body={"user": name, "password": old, "newPassword": new})
    cli.terminal.note(f"{name} has another password; sessions that began with the old one are over.")
    cli.terminal.out(f"{USER.word}/{name}")


@app.command(
    "set-role", epilog=epilog("tidegate user set-role alice operator", codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND))
)
def set_role(
    ctx: typer.Context,
    *,
    name: Name,
    role: Annotated[
        str, typer.Argument(metavar="ROLE", help=f"One of {', '.join(ROLES)}.", callback=check_role, show_default=False)
    ],
) -> None:
    """Give a user another role. It holds at once."""
    _change(context_of(ctx), name, {"role": role}, f"{name} is {role} from now on.")


@app.command("disable", epilog=epilog("tidegate user disable alice", codes=(ExitCode.NOT_FOUND,)))
def disable(ctx: typer.Context, *, name: Name) -> None:
    """Keep a user out, and end their sessions."""
    _change(context_of(ctx), name, {"disabled": True}, f"{name} cannot come in any more.")


@app.command("enable", epilog=epilog("tidegate user enable alice", codes=(ExitCode.NOT_FOUND,)))
def enable(ctx: typer.Context, *, name: Name) -> None:
    """Let a user in again."""
    _change(context_of(ctx), name, {"disabled": False}, f"{name} can log in again.")


@app.command("delete", epilog=epilog("tidegate user delete alice --yes", codes=(ExitCode.NOT_FOUND,)))
def delete(
    ctx: typer.Context,
    *,
    names: Annotated[list[str], options.which()],
    yes: options.Yes = False,
) -> None:
    """Remove users; what they did stays in the audit. Asks first."""
    remove_accounts(context_of(ctx), USER, names, verb="delete", done="deleted", yes=yes)


def _change(cli: CliContext, name: str, change: Wire, done: str) -> None:
    with cli.connect() as client:
        client.change("PUT", USER.plural, name, change)
    cli.terminal.note(done)
    cli.terminal.out(f"{USER.word}/{name}")

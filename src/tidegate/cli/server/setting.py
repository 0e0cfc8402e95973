"""`tidegate setting`: what can be changed while the server runs."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import SETTING
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import show_one
from tidegate.cli.verbs.creating import new_resource
from tidegate.cli.verbs.getting import Query, get

app = typer.Typer(no_args_is_help=True, help="Settings: what can be changed while the server runs.")

Name = Annotated[str, options.name_of(SETTING)]


@app.command(
    "get",
    epilog=epilog(
        "tidegate setting get -o wide",
        "tidegate setting get concurrent-backups -o json | jq -r .spec.value",
        codes=(ExitCode.NOT_FOUND, ExitCode.INTERRUPTED),
    ),
)
def get_settings(
    ctx: typer.Context,
    *,
    names: Annotated[
        list[str] | None,
        options.only_these(SETTING),
    ] = None,
    output: options.Output = None,
    watch: options.Watch = False,
) -> None:
    """List all settings with their values, changed or not."""
    get(context_of(ctx), SETTING, Query(tuple(names or ()), "", "", output, watch))


@app.command(
    "set",
    # A value such as -1 is no option; the server says what is wrong with it.
    context_settings={"ignore_unknown_options": True},
    epilog=epilog(
        "tidegate setting set concurrent-backups 3",
        "tidegate setting set load-concurrency '{\"globalConfig\": 2}'",
        codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND),
    ),
)
def set_setting(
    ctx: typer.Context,
    *,
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.")],
    output: options.Output = None,
) -> None:
    """Change a setting. It holds at once, without a restart."""
    cli = context_of(ctx)
    resource = new_resource("Setting", name, {}, labels={})
    # An empty value is a value here, for the server to judge.
    resource["spec"] = {"value": value}
    with cli.connect() as client:
        wire = client.put(SETTING, resource)
    cli.terminal.note(f"Set {name} to {wire['spec']['value']}.")
    show_one(cli, SETTING, wire, output or OutputFormat.NAME)


@app.command("unset", epilog=epilog("tidegate setting unset concurrent-backups", codes=(ExitCode.NOT_FOUND,)))
def unset_setting(ctx: typer.Context, name: Name) -> None:
    """Let a setting have its default again."""
    cli = context_of(ctx)
    with cli.connect() as client:
        client.delete(SETTING, name, dry_run=False)
    cli.terminal.note(f"{name} has its default again.")
    cli.terminal.out(f"{SETTING.word}/{name}")

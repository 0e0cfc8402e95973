"""`tidegate config`: what this command line and the server on this machine are configured with."""

import json
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import yaml_text
from tidegate.cli.output.terminal import printable
from tidegate.decide.server.configuration import FIELDS, Configuration

app = typer.Typer(no_args_is_help=True, help="Configuration: flags, environment and files.")


@app.callback()
def config() -> None:
    """Configuration: flags, environment and files."""


@app.command(
    "show",
    epilog=epilog(
        "tidegate config show --origin",
        "TIDEGATE_SERVER=http://backup:8470 tidegate config show --origin",
        codes=(ExitCode.REJECTED,),
    ),
)
def show(
    ctx: typer.Context,
    *,
    origin: Annotated[bool, typer.Option("--origin", help="Also show where each value comes from.")] = False,
    output: options.Output = None,
) -> None:
    """Show the configuration as it holds here: flag, then TIDEGATE_* variable, ./tidegate.toml, user file, default."""
    cli = context_of(ctx)
    configuration = cli.configuration
    form = output or OutputFormat.TABLE
    values = {name: shown_value(configuration, name) for name in FIELDS}
    if form.for_programs:
        document = {
            name: {"value": value, "origin": configuration.origins[name]} if origin else value
            for name, value in values.items()
        }
        text = yaml_text(document) if form is OutputFormat.YAML else json.dumps(document, ensure_ascii=False)
        cli.terminal.out(text)
        return
    name_width = max(map(len, values))
    value_width = max(map(len, values.values())) if origin else 0
    for name, value in values.items():
        place = f"  {configuration.origins[name]}" if origin else ""
        cli.terminal.out(printable(f"{name:<{name_width}}  {value:<{value_width}}{place}").rstrip())


def shown_value(configuration: Configuration, name: str) -> str:
    """The value as text; of a secret only whether there is one."""
    if name == "token":
        return "(set)" if configuration.token else ""
    return str(getattr(configuration, name))

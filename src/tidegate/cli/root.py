"""The root of all commands: the global options, the nouns, and how every command fails."""

import sys
import traceback
from collections.abc import Sequence
from enum import StrEnum
from importlib import import_module
from types import ModuleType
from typing import Annotated

import typer

from tidegate import __version__
from tidegate.cli.context import CliContext, NoClock, OpenWorkshop, no_workshop
from tidegate.cli.environment import Environment
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import failure_of
from tidegate.cli.output.terminal import ReaderGone
from tidegate.ports.clock import Clock

# Where each is in this package. It is loaded only if it is asked for: all of them take half of the time of a command.
_NOUNS = {
    "backup": "backups.backup",
    "backup-volume": "stores.backup_volume",
    "catalog": "stores.catalog",
    "queue": "queue.queue",
    "restore": "restores.restore",
    "verify": "verification.verify",
    "schedule": "schedules.schedule",
    "volume": "volumes.volume",
    "target": "stores.target",
    "namespace": "volumes.namespace",
    "setting": "server.setting",
    "transfer": "transfers.transfer",
    "notification": "notifications.notification",
    "deletion": "stores.deletion",
    "node": "transfers.node",
    "load": "transfers.load",
    "system": "system.commands",
    "store": "stores.store",
    "token": "access.token",
    "user": "access.user",
    "config": "server.config",
}
_VERBS = {"audit": "access.audit", "version": "server.version"}
_HELP = {"-h", "--help"}
_GLOBAL_OPTIONS = ("--server", "--token-file", "--data-dir", "--config", "--color")
_EPILOG = "Options of this list may also stand behind a noun and its verb. Data goes to stdout, all else to stderr."


class Color(StrEnum):
    """Whether output is coloured."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class TidegateApp(typer.Typer):
    """All commands, with one way to fail: a sentence and an exit code instead of a traceback."""

    def __init__(self, cli: CliContext) -> None:
        super().__init__(
            name="tidegate",
            no_args_is_help=True,
            # rich would cost more than everything else that help needs.
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            context_settings={"obj": cli, "help_option_names": sorted(_HELP)},
            epilog=_EPILOG,
        )
        self._cli = cli

    def __call__(self, args: Sequence[str] | None = None, *, prog_name: str | None = None) -> None:
        """Run one command and leave the process with its exit code."""
        given = list(sys.argv[1:] if args is None else args)
        try:
            super().__call__(args=with_global_options_first(given), prog_name=prog_name)
        except SystemExit as end:
            # A command that went to its end may have learnt on the way that something failed.
            raise SystemExit(end.code or int(self._cli.exit_code)) from None
        except ReaderGone:
            raise SystemExit(int(self._cli.exit_code)) from None
        except Exception as error:  # noqa: BLE001  # the last place where an error can become a sentence
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if self._cli.environment.variables.get("TIDEGATE_DEBUG") == "1":
            traceback.print_exception(error)
        failure = failure_of(error)
        self._cli.report(failure)
        raise SystemExit(int(failure.exit_code)) from None


def build_app(
    clock: Clock | None = None, *, workshop: OpenWorkshop = no_workshop, words: Sequence[str] = ()
) -> TidegateApp:
    """All commands of the client; more may be added to what is returned. Without a clock only help works.

    `workshop` is called by the commands that work on a store themselves, and only by them. With the `words` that
    somebody typed, only what they can mean is there.
    """
    return assemble(CliContext(clock or NoClock(), Environment.of_this_process(), workshop=workshop), words)


def assemble(cli: CliContext, words: Sequence[str] = ()) -> TidegateApp:
    """The same for a given context."""
    app = TidegateApp(cli)
    app.callback()(_root)
    wanted = {*_NOUNS, *_VERBS}
    place = _place_of_noun(words)
    if place is not None and not _HELP & {*words[:place]}:
        wanted = {words[place]}
    for noun, module in _NOUNS.items():
        if noun in wanted:
            app.add_typer(_load(module).app, name=noun)
    for verb, module in _VERBS.items():
        if verb in wanted:
            app.command(verb, epilog=_load(module).EPILOG)(getattr(_load(module), verb))
    return app


def _load(module: str) -> ModuleType:
    return import_module(f"tidegate.cli.{module}")


def with_global_options_first(args: Sequence[str]) -> list[str]:
    """Move the global options in front of the noun, where the parser wants them, wherever they were typed.

    Only for our own nouns: commands that others add may have options of the same names.
    """
    place = _place_of_noun(args)
    if place is None:
        return list(args)
    moved: list[str] = []
    kept: list[str] = []
    rest = iter(args[place:])
    for argument in rest:
        if argument == "--":
            kept += [argument, *rest]
        elif argument in _GLOBAL_OPTIONS:
            moved += [argument, *([value] if (value := next(rest, None)) is not None else [])]
        elif argument.startswith(tuple(f"{option}=" for option in _GLOBAL_OPTIONS)):
            moved.append(argument)
        else:
            kept.append(argument)
    return [*args[:place], *moved, *kept]


def _place_of_noun(words: Sequence[str]) -> int | None:
    """Where one of our nouns stands; None if the first word is something else, or there is none."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _GLOBAL_OPTIONS else 1
    return place if place < len(words) and words[place] in {*_NOUNS, *_VERBS} else None


def _show_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"tidegate {__version__}\n")
        raise typer.Exit(ExitCode.DONE)


def _root(
    ctx: typer.Context,
    *,
    server: Annotated[
        str | None, typer.Option(metavar="URL", help="The server; empty: the one that runs on the data directory.")
    ] = None,
    token_file: Annotated[str | None, typer.Option(metavar="FILE", help="File with the token.")] = None,
    data_dir: Annotated[str | None, typer.Option(metavar="DIRECTORY", help="The server's data directory.")] = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE", help="Configuration file in place of ./tidegate.toml.")
    ] = None,
    color: Annotated[Color | None, typer.Option(help="Colours: auto, always or never.", show_default=False)] = None,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Backups that pass a few gates, and say why they wait."""
    given = {"server": server, "token_file": token_file, "data_dir": data_dir, "config": config, "color": color}
    cli = ctx.find_object(CliContext)
    if cli is not None:
        cli.flags = {name: value for name, value in given.items() if value is not None}

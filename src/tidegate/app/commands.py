"""The command line of `tidegate`: the CLI's nouns, and the processes that this machine can run."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.collector import loading
from tidegate.cli.context import context_of
from tidegate.cli.root import TidegateApp, build_app

if TYPE_CHECKING:
    from tidegate.datapath.workshop import Workshop

_SERVER_EPILOG = """Examples:

  tidegate server                                   state under the XDG state directory, port 8470

  tidegate server --data-dir ./state --listen 127.0.0.1:0

  tidegate server --concurrent-backups 3

  tidegate server --load-config load.json --nodes nodes.json

  TIDEGATE_LOG_FORMAT=json tidegate server          every option is also a variable or a line in tidegate.toml

Exit codes: 0 stopped by a signal; 4 something in the configuration cannot work; 11 another server has the data
directory or the port."""


class LogFormat(StrEnum):
    """How the log is written."""

    AUTO = "auto"
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """What is written to the log."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def build_commands(words: Sequence[str] = ()) -> TidegateApp:
    """All commands, those that start processes included; with `words`, only what they can mean of the others."""
    app = build_app(SystemClock(), workshop=_workshop, words=words)
    app.command("server", epilog=_SERVER_EPILOG)(server)
    app.command("mover", hidden=True)(mover)
    app.command("mover-nursery", hidden=True)(mover_nursery)
    app.command("catalogue-sync", hidden=True)(catalogue_sync)
    app.command("demo")(demo)
    return app


def _workshop() -> "Workshop":
    # Here: help and the commands that ask a server need none of it.
    from tidegate.app.processes.workshop import real_workshop

    return real_workshop()


def server(
    ctx: typer.Context,
    *,
    data_dir: Annotated[str | None, typer.Option(metavar="DIRECTORY", help="Where the server keeps its state.")] = None,
    listen: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Where it listens; port 0 = any.")] = None,
    log_format: Annotated[LogFormat | None, typer.Option(help="auto: text on a terminal, else JSON.")] = None,
    log_level: Annotated[LogLevel | None, typer.Option(help="The least important lines that are written.")] = None,
    concurrent_backups: Annotated[
        str | None,
        typer.Option(metavar="N", help="Set the setting concurrent-backups at the start, over what was set before."),
    ] = None,
    load_config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Set the setting load-concurrency from this JSON at the start."),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Virtual nodes on this machine: names, labels and slots, as JSON."),
    ] = None,
    max_connections: Annotated[
        str | None, typer.Option(metavar="N", help="How many connections it takes at once; half of them per address.")
    ] = None,
    trusted_proxies: Annotated[
        str | None,
        typer.Option(metavar="CIDR,...", help="Proxies before it, whose X-Forwarded-* and Forwarded headers count."),
    ] = None,
    allowed_hosts: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="Names by which clients may call it, beside addresses and localhost."),
    ] = None,
    open_metrics: Annotated[
        bool | None, typer.Option("--open-metrics", help="Serve /metrics without a token.", show_default=False)
    ] = None,
    config: Annotated[str | None, typer.Option(metavar="FILE", help="In place of ./tidegate.toml.")] = None,
) -> None:
    """Run the backup server on this machine until Ctrl-C or SIGTERM."""
    cli = context_of(ctx)
    own = {
        "data_dir": data_dir,
        "listen": listen,
        "log_format": log_format,
        "log_level": log_level,
        "concurrent_backups": concurrent_backups,
        "load_config": load_config,
        "nodes": nodes,
        "max_connections": max_connections,
        "trusted_proxies": trusted_proxies,
        "allowed_hosts": allowed_hosts,
        "open_metrics": "true" if open_metrics else None,
        "config": config,
    }
    cli.flags = {**cli.flags, **{name: value for name, value in own.items() if value is not None}}
    # After the flags are known to be good: the server's libraries take half a second to load.
    configuration = cli.configuration
    with loading():
        from tidegate.app.options import server_options

        options = server_options(configuration)
        from tidegate.app.logs import configure_logs
        from tidegate.app.server import run_server

    configure_logs(form=configuration.log_format, level=configuration.log_level)
    run_server(options)


def mover() -> None:
    """Carry out one transfer: started by the server, with the job on standard input."""
    from tidegate.app.processes.mover import run_mover

    raise typer.Exit(run_mover())


def mover_nursery() -> None:
    """Start movers quickly: started by the server, with its socket as standard input."""
    from tidegate.app.processes.nursery import run_nursery

    raise typer.Exit(run_nursery())


def catalogue_sync() -> None:
    """Read what stores hold into the catalogue: started by the server, which talks to it."""
    from tidegate.app.processes.sync_process import run_sync_process

    raise typer.Exit(run_sync_process())


def demo() -> None:
    """Watch a story of about a minute: back up, destroy, restore, compare. Leaves nothing behind."""
    from tidegate.app.demo import run_demo

    raise typer.Exit(run_demo())

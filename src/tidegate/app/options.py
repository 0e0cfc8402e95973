"""What a server must be told, from the configuration."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tidegate.app.http.server import most_connections
from tidegate.cli.documents import read_document
from tidegate.decide.access.connections import ConnectionLimits
from tidegate.decide.access.forwarded import parse_networks
from tidegate.decide.access.hosts import parse_hosts
from tidegate.decide.server.configuration import Configuration
from tidegate.model.duration import parse_duration
from tidegate.model.transfers.load import LoadConcurrency, parse_load_concurrency
from tidegate.model.transfers.virtual_node import VirtualNode, parse_virtual_nodes

T = TypeVar("T")


@dataclass(frozen=True)
class ServerOptions:
    """Where the state is, where to listen, which settings to begin with, and which nodes there are."""

    data_dir: Path
    host: str
    port: int
    concurrent_backups: int | None = None
    """What the setting of that name shall be; None leaves it as it is."""
    load_concurrency: LoadConcurrency | None = None
    """The same."""
    nodes: tuple[VirtualNode, ...] = ()
    """Empty: this machine is the one node."""
    hosts: frozenset[str] = frozenset()
    """By which names it is called, beside its addresses, localhost and the name of the machine."""
    open_metrics: bool = False
    """Whether `/metrics` needs no token."""
    connections: ConnectionLimits = field(default_factory=lambda: ConnectionLimits(most_connections()))


def server_options(configuration: Configuration) -> ServerOptions:
    """Read them out of a configuration that was checked when it was read, and the files that it names.

    Raises InvalidInput for a file that is wrong: before anything starts, so that nothing runs with half of it.
    """
    host, _, port = configuration.listen.rpartition(":")
    load, nodes = configuration.load_config, configuration.nodes
    return ServerOptions(
        Path(configuration.data_dir),
        host.strip("[]"),
        int(port),
        concurrent_backups=int(configuration.concurrent_backups) if configuration.concurrent_backups else None,
        load_concurrency=_file(configuration, "load_config", parse_load_concurrency) if load else None,
        nodes=_file(configuration, "nodes", parse_virtual_nodes) if nodes else (),
        hosts=parse_hosts(configuration.allowed_hosts),
        open_metrics=configuration.open_metrics == "true",
        connections=_connection_limits(configuration),
    )


def _connection_limits(configuration: Configuration) -> ConnectionLimits:
    return ConnectionLimits(
        trusted_proxies=parse_networks(configuration.trusted_proxies),
        most=int(configuration.max_connections) if configuration.max_connections else most_connections(),
        header=_seconds(configuration.header_timeout),
        idle=_seconds(configuration.idle_timeout),
        request=_seconds(configuration.request_timeout),
        progress=_seconds(configuration.progress_timeout),
    )


def _seconds(text: str) -> float:
    return parse_duration(text).total_seconds()


def _file(configuration: Configuration, name: str, read: Callable[[str], T]) -> T:
    return read_document(Path(getattr(configuration, name)), read, option=configuration.origins[name])

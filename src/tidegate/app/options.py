"""What a server must be told, from the configuration."""

from dataclasses import dataclass
from pathlib import Path

from tidegate.decide.configuration import Configuration


@dataclass(frozen=True)
class ServerOptions:
    """Where the state is, where to listen, and which settings to begin with."""

    data_dir: Path
    host: str
    port: int
    concurrent_backups: int | None = None
    """What the setting of that name shall be; None leaves it as it is."""


def server_options(configuration: Configuration) -> ServerOptions:
    """Read them out of a configuration that was checked when it was read."""
    host, _, port = configuration.listen.rpartition(":")
    limit = int(configuration.concurrent_backups) if configuration.concurrent_backups else None
    return ServerOptions(Path(configuration.data_dir), host.strip("[]"), int(port), limit)

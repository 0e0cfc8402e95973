"""What a server must be told, from the configuration."""

from dataclasses import dataclass
from pathlib import Path

from tidegate.decide.configuration import Configuration


@dataclass(frozen=True)
class ServerOptions:
    """Where the state is and where to listen."""

    data_dir: Path
    host: str
    port: int


def server_options(configuration: Configuration) -> ServerOptions:
    """Read them out of a configuration that was checked when it was read."""
    host, _, port = configuration.listen.rpartition(":")
    return ServerOptions(Path(configuration.data_dir), host.strip("[]"), int(port))

"""Reads the configuration: flags, environment and files. `decide/server/configuration.py` decides which value wins."""

from collections.abc import Mapping
from pathlib import Path

from tidegate.cli.environment import Environment
from tidegate.decide.server.configuration import (
    FIELDS,
    Configuration,
    Layer,
    environment_layer,
    file_layer,
    flag_layer,
    layered,
)
from tidegate.errors import InvalidInput

FILE_NAME = "tidegate.toml"
_LARGEST_FILE = 1_000_000


def load_configuration(flags: Mapping[str, object]) -> Configuration:
    """The configuration of this process. `flags` has field names, and `config` for a file to read; None = not given."""
    return read_configuration(flags, Environment.of_this_process())


def read_configuration(flags: Mapping[str, object], environment: Environment) -> Configuration:
    """The same for a given environment. Raises InvalidInput with the place and the key of what is wrong."""
    layers = [
        _with_paths(flag_layer(flags), environment, base=environment.directory),
        _with_paths(environment_layer(environment.variables), environment, base=environment.directory),
        *_file_layers(flags, environment),
        _defaults(environment),
    ]
    return layered(layers)


def user_file(environment: Environment) -> Path:
    """The file that holds for all directories of this user."""
    return environment.config_home / "tidegate" / FILE_NAME


def _file_layers(flags: Mapping[str, object], environment: Environment) -> list[Layer]:
    asked = flags.get("config") or environment.variables.get("TIDEGATE_CONFIG")
    first = environment.absolute(str(asked)) if asked else environment.directory / FILE_NAME
    layers = []
    for path in (first, user_file(environment)):
        document = _read_file(path)
        if document is not None:
            layers.append(_with_paths(file_layer(document, str(path)), environment, base=path.parent))
        elif asked and path == first:
            raise InvalidInput(f"There is no configuration file {path}.", field="config")
    return layers


def _read_file(path: Path) -> dict[str, object] | None:
    """The keys of a file; None if there is none. A file that is there but cannot be read is not an empty file."""
    import tomllib

    try:
        with path.open("rb") as file:
            return tomllib.loads(file.read(_LARGEST_FILE).decode())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InvalidInput(
            f"The configuration file {path} cannot be read: {error.strerror}.", field="config"
        ) from error
    except ValueError as error:
        raise InvalidInput(f"The configuration file {path} is not TOML: {error}.", field="config") from error


def _with_paths(layer: Layer, environment: Environment, *, base: Path) -> Layer:
    """Paths made absolute from where they were written, so that they mean the same everywhere."""
    values = {
        name: str(environment.absolute(value, base=base)) if FIELDS[name].is_path and value else value
        for name, value in layer.values.items()
    }
    return Layer(values, layer.places)


def _defaults(environment: Environment) -> Layer:
    """Defaults that depend on the user."""
    return Layer({"data_dir": str(environment.state_home / "tidegate")}, {"data_dir": "default"})

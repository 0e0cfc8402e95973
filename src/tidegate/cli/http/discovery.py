"""Finds the server and the token: as configured, or where a server on this machine left word of itself."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.decide.server.configuration import Configuration
from tidegate.errors import InvalidInput, ServerUnreachable, Unauthenticated

SERVER_FILE = "server.json"
TOKEN_FILE = "admin.token"  # noqa: S105  # the name of a file
_LARGEST_FILE = 100_000


@dataclass(frozen=True)
class Endpoint:
    """Where the server is, and what opens it."""

    url: str
    token: str = field(repr=False)
    start_hint: str
    """What to do if nobody answers there."""


def find_server(configuration: Configuration) -> Endpoint:
    """The configured server, or the one that runs on the data directory.

    The data directory's token is only ever sent to the server that wrote it. Raises ServerUnreachable if no server
    is to be found, Unauthenticated if there is no token for it.
    """
    url = configuration.server.rstrip("/")
    if url:
        hint = f"Check that the server runs and that {url} ({configuration.origins['server']}) is its address."
    else:
        url = _running_server(configuration.data_dir)
        hint = _start_hint(configuration.data_dir)
    return Endpoint(url, _token(configuration, url), hint)


def _running_server(data_dir: str) -> str:
    """The URL in server.json, if the process that wrote it is still there."""
    known = _server_file(data_dir)
    if known is None:
        raise ServerUnreachable(f"No server runs on the data directory {data_dir}.", hint=_start_hint(data_dir))
    url, pid = known
    if not _alive(pid):
        raise ServerUnreachable(
            f"The server that ran on the data directory {data_dir} is gone: its process {pid} ended.",
            hint=_start_hint(data_dir),
        )
    return url


def _start_hint(data_dir: str) -> str:
    return f"Start one with: tidegate server --data-dir {data_dir}. Or name another with --server URL."


def _server_file(data_dir: str) -> tuple[str, int] | None:
    path = Path(data_dir) / SERVER_FILE
    try:
        document = json.loads(_small_text(path))
        return str(document["url"]).rstrip("/"), int(document["pid"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ServerUnreachable(
            f"{path} cannot be read: {error.strerror}.", hint="Run as the server's user."
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise ServerUnreachable(f"{path} is not what a server writes.", hint=_start_hint(data_dir)) from error


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        # It exists and belongs to somebody else.
        return True
    return True


def _token(configuration: Configuration, url: str) -> str:
    # A flag weighs more than the environment, whichever of the two names the token was given by.
    by_flag = configuration.origins["token_file"].startswith("--")
    if configuration.token and not by_flag:
        return _checked(configuration.token, configuration.origins["token"])
    if configuration.token_file:
        return _read_token(Path(configuration.token_file))
    known = _server_file(configuration.data_dir)
    if known is not None and known[0] == url:
        return _read_token(Path(configuration.data_dir) / TOKEN_FILE)
    raise Unauthenticated(
        f"There is no token for {url}.", hint="Give one with --token-file FILE or the variable TIDEGATE_TOKEN."
    )


def _read_token(path: Path) -> str:
    try:
        token = _small_text(path).strip()
    except FileNotFoundError as error:
        raise Unauthenticated(f"There is no token file {path}.", hint="Name another with --token-file.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise Unauthenticated(
            f"The token file {path} cannot be read: {reason}.",
            hint="Run as the server's user, or give a token with --token-file.",
        ) from error
    return _checked(token, f"The token file {path}")


def _checked(token: str, place: str) -> str:
    # The token goes into a header, where a line break would begin another one.
    if not token or not token.isascii() or not token.isprintable():
        raise InvalidInput(f"{place} does not hold a token.", field="token")
    return token


def _small_text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LARGEST_FILE).decode()

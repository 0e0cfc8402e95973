"""Names of what there is, for the shell's completion: quick, and silent when there is nobody to ask.

Uses the standard library's HTTP client, because loading the other one takes longer than the whole answer may.
"""

import json
from collections.abc import Callable
from urllib.parse import urlsplit

import typer

from tidegate.cli.configuration import read_configuration
from tidegate.cli.environment import Environment
from tidegate.cli.http.discovery import Endpoint, find_server
from tidegate.cli.http.nouns import Noun
from tidegate.cli.http.wire import full_name_of
from tidegate.errors import TidegateError

# A shell that hangs on Tab is worse than one that offers nothing.
_SECONDS = 1.0
_AT_MOST = 200


def names_of(noun: Noun) -> Callable[[typer.Context, str], list[str]]:
    """A completion that offers the names of all that there are of this noun."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        from http.client import HTTPException

        try:
            configuration = read_configuration(ctx.find_root().params, Environment.of_this_process())
            endpoint = find_server(configuration)
            return [name for plural in noun.plurals for name in _names(endpoint, plural) if name.startswith(incomplete)]
        except (TidegateError, OSError, HTTPException, ValueError, LookupError, TypeError):
            return []

    return complete


def _names(endpoint: Endpoint, plural: str) -> list[str]:
    from http.client import HTTPConnection, HTTPSConnection

    place = urlsplit(endpoint.url)
    connect = HTTPSConnection if place.scheme == "https" else HTTPConnection
    connection = connect(place.hostname or "", place.port, timeout=_SECONDS)
    try:
        headers = {"Authorization": f"Bearer {endpoint.token}"}
        connection.request("GET", f"{place.path}/v1/{plural}?limit={_AT_MOST}", headers=headers)
        answer = connection.getresponse()
        return [full_name_of(wire) for wire in json.loads(answer.read())["data"]]
    finally:
        connection.close()

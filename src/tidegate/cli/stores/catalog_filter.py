"""What the catalogue is searched by, as options that several verbs share."""

from dataclasses import dataclass
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext
from tidegate.cli.http.nouns import TARGET
from tidegate.cli.output.listings import Query
from tidegate.cli.output.moments import read_moment

_GLOB = "; * stands for any part."


@dataclass(frozen=True)
class FilterWishes:
    """What shall match; a field is an option of the same name."""

    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", help="A part of a volume, namespace, claim, workload or pod.")
    ] = ""
    volume: Annotated[str, typer.Option("--volume", metavar="NAME", help=f"Name of the volume in the store{_GLOB}")] = (
        ""
    )
    namespace: options.InNamespace = ""
    claim: Annotated[str, typer.Option("--claim", "--pvc", metavar="NAME", help=f"Volume claim{_GLOB}")] = ""
    workload: Annotated[str, typer.Option("--workload", metavar="NAME", help=f"Workload that used it{_GLOB}")] = ""
    pod: Annotated[str, typer.Option("--pod", metavar="NAME", help=f"Pod that used it{_GLOB}")] = ""
    label: Annotated[list[str] | None, typer.Option("-l", "--label", metavar="KEY[=VALUE]", help="Label.")] = None
    target: Annotated[
        str, typer.Option("--target", metavar="NAME", help="Target.", autocompletion=names_of(TARGET))
    ] = ""
    state: Annotated[str, typer.Option("--state", metavar="STATE", help="Completed, InProgress or Error.")] = ""
    since: Annotated[str, typer.Option(metavar="TIME", help="Made at this time or later: 2026-01-31, or 36h ago.")] = ""
    until: Annotated[str, typer.Option(metavar="TIME", help="Made before this time.")] = ""

    def query(self, cli: CliContext) -> Query:
        """As the API takes it; what is empty does not matter."""
        wanted: dict[str, str | list[str] | None] = {
            **vars(self),
            "search": self.text,
            "text": "",
            "since": read_moment(cli, self.since, "--since"),
            "until": read_moment(cli, self.until, "--until"),
        }
        return {name: value for name, value in wanted.items() if value}

"""What the catalogue is searched by, as options that several verbs share."""

from typing import Annotated

import typer

from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext
from tidegate.cli.listings import Query
from tidegate.cli.moments import read_moment
from tidegate.cli.nouns import TARGET

_GLOB = "; * stands for any part."
Text = Annotated[str, typer.Argument(metavar="[TEXT]", help="A part of a volume, namespace, claim, workload or pod.")]
WithVolume = Annotated[str, typer.Option("--volume", metavar="NAME", help=f"Name of the volume in the store{_GLOB}")]
WithClaim = Annotated[str, typer.Option("--claim", "--pvc", metavar="NAME", help=f"Volume claim{_GLOB}")]
WithWorkload = Annotated[str, typer.Option("--workload", metavar="NAME", help=f"Workload that used it{_GLOB}")]
WithPod = Annotated[str, typer.Option("--pod", metavar="NAME", help=f"Pod that used it{_GLOB}")]
WithLabels = Annotated[list[str] | None, typer.Option("-l", "--label", metavar="KEY[=VALUE]", help="Label.")]
InTarget = Annotated[str, typer.Option("--target", metavar="NAME", help="Target.", autocompletion=names_of(TARGET))]
WithState = Annotated[str, typer.Option("--state", metavar="STATE", help="Completed, InProgress or Error.")]
Since = Annotated[str, typer.Option(metavar="TIME", help="Made at this time or later: 2026-01-31, or 36h ago.")]
Until = Annotated[str, typer.Option(metavar="TIME", help="Made before this time.")]


def filter_query(cli: CliContext, labels: list[str] | None, *, since: str, until: str, **texts: str) -> Query:
    """As the API takes it; what is empty does not matter."""
    moments = {"since": read_moment(cli, since, "--since"), "until": read_moment(cli, until, "--until")}
    query: Query = {name: value for name, value in {**texts, **moments}.items() if value}
    if labels:
        query["label"] = labels
    return query

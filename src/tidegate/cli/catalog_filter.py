"""What the catalogue is searched by, as options that several verbs share."""

from typing import Annotated

import typer

from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext
from tidegate.cli.failures import wrong_usage
from tidegate.cli.listings import Query
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
    moments = {"since": _moment(cli, since, "--since"), "until": _moment(cli, until, "--until")}
    query: Query = {name: value for name, value in {**texts, **moments}.items() if value}
    if labels:
        query["label"] = labels
    return query


def _moment(cli: CliContext, text: str, option: str) -> str:
    """A date, a time, or how long ago."""
    from datetime import datetime

    from tidegate.model.duration import parse_duration

    if not text:
        return ""
    try:
        if text[-1] in "smhd":
            return (cli.clock.now() - parse_duration(text)).isoformat()
        return datetime.fromisoformat(text).astimezone().isoformat()
    except (ValueError, OverflowError):
        raise wrong_usage(
            f"{option}: {text!r} is not a time.", hint="Write 2026-01-31, 2026-01-31T12:00, or 36h."
        ) from None

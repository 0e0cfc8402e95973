"""The verb `create`: send the object, or with --dry-run only show what would be stored."""

from collections.abc import Callable
from dataclasses import dataclass

from tidegate.cli.context import CliContext
from tidegate.cli.http.nouns import Noun
from tidegate.cli.http.wire import Wire, full_name_of
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import API_VERSION, show_one


@dataclass(frozen=True)
class Creation:
    """An object to be, and how to answer."""

    resource: Wire
    output: OutputFormat | None
    dry_run: bool


def new_resource(kind: str, name: str, spec: Wire, *, labels: dict[str, str], namespace: str = "") -> Wire:
    """An object as the API takes it. Values that were not given are left to the server."""
    metadata: Wire = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if labels:
        metadata["labels"] = labels
    given = {key: value for key, value in spec.items() if value not in (None, "", [], {})}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": given}


def send(cli: CliContext, noun: Noun, creation: Creation) -> Wire:
    """Send it; returns it as stored."""
    with cli.connect() as client:
        return client.create(noun, creation.resource, dry_run=creation.dry_run)


def create(
    cli: CliContext, noun: Noun, creation: Creation, *, sentence: Callable[[Wire], str] = lambda _wire: ""
) -> None:
    """Send it and show what came of it; `sentence` says more about it."""
    wire = send(cli, noun, creation)
    if creation.dry_run:
        show_dry_run(cli, noun, wire, creation.output, sentence=sentence(wire))
        return
    cli.terminal.note(f"Created {noun.word} {full_name_of(wire)}. {sentence(wire)}".rstrip())
    show_one(cli, noun, wire, creation.output or OutputFormat.NAME)


def show_dry_run(cli: CliContext, noun: Noun, wire: Wire, output: OutputFormat | None, *, sentence: str) -> None:
    """What would be stored, as YAML unless told otherwise."""
    cli.terminal.note(sentence or f"Nothing was changed; the {noun.word} would be stored like this:")
    show_one(cli, noun, wire, output or OutputFormat.YAML)

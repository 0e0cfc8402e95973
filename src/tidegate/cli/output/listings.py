"""Lists that are no stored resources, as data or as a table, page after page."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from tidegate.cli.context import CliContext
from tidegate.cli.http.client import PAGE_SIZE, Client
from tidegate.cli.http.wire import Wire, read_model
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import compact_json, pretty_json, show_table, yaml_text

if TYPE_CHECKING:
    from tidegate.model.frozen import Model
    from tidegate.views.table import TableView

M = TypeVar("M", bound="Model")
Query = dict[str, str | list[str]]


def pages(
    client: Client, path: str, query: Query, *, at_most: int | None, hear: Callable[[Wire], None] = lambda _: None
) -> Iterator[Wire]:
    """Everything that matches, or the first `at_most`. `hear` is given the first page."""
    left, marker = at_most, ""
    while left is None or left > 0:
        limit = PAGE_SIZE if left is None else min(PAGE_SIZE, left)
        part: Query = {**query, "limit": str(limit)}
        if marker:
            part["marker"] = marker
        page = client.look(path, part)
        if not marker:
            hear(page)
        yield from page["data"]
        marker = str(page["pagination"]["next"] or "")
        if not marker:
            return
        left = None if left is None else left - limit


def tell_what_is_not_read(cli: CliContext) -> Callable[[Wire], None]:
    """For lists of the catalogue: an empty one must not be taken for an empty store."""

    def tell(page: Wire) -> None:
        if unread := page.get("notReadYet"):
            cli.terminal.note(
                f"Not read yet: target {', '.join(unread)}; what it holds is missing here. See: tidegate catalog status"
            )

    return tell


def show_listing(
    cli: CliContext,
    wires: Iterator[Wire],
    form: OutputFormat,
    *,
    view: "TableView[M]",
    name: Callable[[Wire], str],
    nothing: str,
) -> None:
    """In the form that was asked for; what can be shown one by one is shown as it comes."""
    if form is OutputFormat.JSONL:
        for wire in wires:
            cli.terminal.out(compact_json(wire))
    elif form is OutputFormat.NAME:
        for wire in wires:
            cli.terminal.out(name(wire))
    elif form.for_programs:
        document = {"kind": "List", "items": list(wires)}
        cli.terminal.out(pretty_json(document) if form is OutputFormat.JSON else yaml_text(document))
    else:
        things = [read_model(view.kinds[0], wire, str(wire.get("type"))) for wire in wires]
        if not things:
            cli.terminal.note(nothing)
        show_table(cli, view, things, wide=form is OutputFormat.WIDE)


def show_document(cli: CliContext, wire: Wire, form: OutputFormat) -> bool:
    """One answer as data; False if a person wants to read it."""
    if form is OutputFormat.YAML:
        cli.terminal.out(yaml_text(wire))
    elif form.for_programs:
        cli.terminal.out(pretty_json(wire) if form is OutputFormat.JSON else compact_json(wire))
    else:
        return False
    return True

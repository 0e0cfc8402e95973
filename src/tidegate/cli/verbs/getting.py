"""The verb `get`: a list or single resources, once or followed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tidegate.cli import options
from tidegate.cli.context import CliContext
from tidegate.cli.failures import failure_of, wrong_usage
from tidegate.cli.http.client import Client
from tidegate.cli.http.events import ResourceEvent
from tidegate.cli.http.following import Deadline, Moment, Versions, follow
from tidegate.cli.http.nouns import Job, Noun
from tidegate.cli.http.wire import Wire, full_name_of, labels_of, uid_of, version_of
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import TablePrinter, compact_json, show_all, show_one, typed_name, yaml_text
from tidegate.errors import NotFound
from tidegate.model.labels import Selector


@dataclass(frozen=True)
class Query:
    """What was asked for."""

    names: tuple[str, ...] = ()
    namespace: str = ""
    selector: str = ""
    output: OutputFormat | None = None
    watch: bool = False
    exact_bytes: bool = False
    keep: Callable[[Wire], bool] = lambda _wire: True
    """What the server cannot select."""

    @property
    def form(self) -> OutputFormat:
        """A table unless told otherwise."""
        return self.output or OutputFormat.TABLE


@dataclass(frozen=True)
class ListWishes:
    """The options of every verb that lists."""

    selector: options.Selector = ""
    output: options.Output = None
    watch: options.Watch = False
    exact_bytes: options.ExactBytes = False

    def query(self, names: list[str] | None, *, namespace: str = "") -> Query:
        """Those that are named, or all."""
        return Query(tuple(names or ()), namespace, self.selector, self.output, self.watch, self.exact_bytes)


@dataclass(frozen=True)
class NamespaceWishes:
    """For what has a namespace."""

    namespace: options.InNamespace = ""
    all_namespaces: options.AllNamespaces = False

    def checked(self) -> str:
        """The namespace; empty: all."""
        if self.namespace and self.all_namespaces:
            raise wrong_usage("-n and -A contradict each other.")
        return self.namespace


def get(cli: CliContext, noun: Noun, query: Query) -> None:
    """Show what was asked for, and with `watch` go on."""
    _check_selector(query.selector)
    if query.watch:
        _watch(cli, noun, query)
        return
    with cli.connect() as client:
        wires = list(_named(cli, client, noun, query) if query.names else _listed(client, noun, query))
    if not wires and query.names:
        return  # each was told as missing
    if len(query.names) == 1 and not query.form.is_table:
        show_one(cli, noun, wires[0], query.form)
    elif query.form.is_table:
        TablePrinter(cli, noun, query.form is OutputFormat.WIDE, query.exact_bytes).show(wires)
    else:
        show_all(cli, noun, wires, query.form)


def place_of(noun: Noun, name: str, namespace: str) -> tuple[str, str]:
    """(name, namespace) of a resource; a namespaced one may be written `namespace/name`."""
    if not noun.namespaced:
        return name, ""
    before, slash, after = name.partition("/")
    if slash:
        if namespace and namespace != before:
            raise wrong_usage(f"{name} is not in the namespace {namespace}.")
        return after, before
    if not namespace:
        raise wrong_usage(
            f"In which namespace is the {noun.word} {name}?", hint=f"Write -n NAMESPACE, or NAMESPACE/{name}."
        )
    return name, namespace


def _named(cli: CliContext, client: Client, noun: Noun, query: Query) -> Iterator[Wire]:
    """Those that there are. One that is missing is told and hides no other."""
    for name in query.names:
        try:
            yield client.get(noun, *place_of(noun, name, query.namespace))
        except NotFound as error:
            cli.report(failure_of(error))


def _listed(client: Client, noun: Noun, query: Query) -> list[Wire]:
    found: list[Wire] = []
    for plural in noun.plurals:
        listing = client.list(plural, namespace=query.namespace if noun.namespaced else "", selector=query.selector)
        found += filter(query.keep, listing.items)
    return in_order(noun, found)


def in_order(noun: Noun, wires: Sequence[Wire]) -> list[Wire]:
    """As a person looks for them: what runs and ends newest first, all else by name as the server lists it."""
    if not isinstance(noun, Job):
        return list(wires)
    return sorted(wires, key=lambda wire: str(wire["metadata"].get("creationTimestamp", "")), reverse=True)


def _check_selector(text: str) -> None:
    try:
        Selector.parse(text)
    except ValueError as error:
        raise wrong_usage(f"-l: {error}.") from error


_State = tuple[str, str, str]
"""Its version, and what is told without being stored: its place in a queue, and why it waits as things are now."""


def _state(wire: Wire) -> _State:
    status = wire.get("status") or {}
    waits = [c.get("message", "") for c in status.get("conditions", ()) if c.get("type") == "Waiting"]
    return version_of(wire), str(status.get("queuePosition", "")), "".join(waits)


class _Watched:
    """What was shown of each resource, so that a look taken anew shows only what is new."""

    def __init__(self, noun: Noun, query: Query) -> None:
        self._noun = noun
        self._query = query
        self._selector = Selector.parse(query.selector)
        self._names = {place_of(noun, name, query.namespace) for name in query.names}
        self._shown: dict[str, _State] = {}
        self.found: list[Wire] = []

    def look(self, client: Client) -> Versions:
        """List everything; what differs from what was shown is in `found`."""
        listings = {plural: client.list(plural) for plural in self._noun.plurals}
        wires = [wire for listing in listings.values() for wire in listing.items]
        self.found = [wire for wire in in_order(self._noun, wires) if self.is_news(wire)]
        return {plural: listing.version for plural, listing in listings.items()}

    def is_news(self, wire: Wire, *, deleted: bool = False) -> bool:
        """Whether it was asked for and is not what was shown last."""
        if not self._asked_for(wire):
            return False
        # A setting that has its default was never stored, so it has no uid.
        who = uid_of(wire) or full_name_of(wire)
        if deleted:
            return self._shown.pop(who, None) is not None
        state = _state(wire)
        news = self._shown.get(who) != state
        self._shown[who] = state
        return news

    def _asked_for(self, wire: Wire) -> bool:
        namespace = str(wire["metadata"].get("namespace", ""))
        name = str(wire["metadata"]["name"])
        return (
            (not self._names or (name, namespace) in self._names)
            and (not self._noun.namespaced or self._query.namespace in {"", namespace})
            and self._selector.holds_for(labels_of(wire))
            and self._query.keep(wire)
        )


def _watch(cli: CliContext, noun: Noun, query: Query) -> None:
    watched = _Watched(noun, query)
    table = TablePrinter(cli, noun, query.form is OutputFormat.WIDE, query.exact_bytes)
    forever = Deadline.after(cli.clock, None, sentence="", hint="")
    for item in follow(cli, noun.plurals, watched.look, deadline=forever):
        if item is Moment.LOOKED:
            _show_found(cli, noun, query, table, watched.found)
        elif item is Moment.LOST:
            cli.terminal.note("The server is away; looking for it again.")
        elif isinstance(item, ResourceEvent) and watched.is_news(item.resource, deleted=item.deleted):
            _show_change(cli, noun, query, table, item)


def _show_found(cli: CliContext, noun: Noun, query: Query, table: TablePrinter, wires: list[Wire]) -> None:
    if query.form.is_table and not table.begun:
        table.show(wires)
        return
    for wire in wires:
        _show_change(cli, noun, query, table, ResourceEvent("", "ADDED", wire))


def _show_change(cli: CliContext, noun: Noun, query: Query, table: TablePrinter, event: ResourceEvent) -> None:
    """One row or one object. An object that is gone says so itself, since its last state does not."""
    gone = {"deleted": True} if event.deleted else {}
    match query.form:
        case OutputFormat.NAME:
            cli.terminal.out(typed_name(noun, event.resource))
        case OutputFormat.YAML:
            cli.terminal.out(f"---\n{yaml_text({**event.resource, **gone})}")
        case OutputFormat.JSON | OutputFormat.JSONL:
            cli.terminal.out(compact_json({**event.resource, **gone}))
        case _:
            table.add(event.resource, deleted=event.deleted)

"""Nodes as a table and as a description."""

from tidegate.model.transfers.node import Node
from tidegate.views.phases import conditions_section, identity_lines
from tidegate.views.reader import Reader
from tidegate.views.table import Cell, Column, Section, TableView, Tone, label_text, section, sections


def _ready(node: Node) -> Cell:
    return Cell("Ready", Tone.GOOD) if node.status.ready else Cell("NotReady", Tone.BAD)


def _running(node: Node) -> str:
    """As `running/limit`; empty where the server did not say."""
    load = node.status.load
    return "" if load is None else f"{load.running}/{load.limit}"


def _slots(node: Node) -> str:
    return "" if node.spec.slots is None else str(node.spec.slots)


NODES = TableView(
    (Node,),
    (
        Column("NAME", lambda node, _: node.name),
        Column("STATUS", lambda node, _: _ready(node)),
        Column("RUNNING", lambda node, _: _running(node), right=True),
        Column("SLOTS", lambda node, _: _slots(node), right=True),
        Column("AGE", lambda node, reader: reader.age(node.metadata.creation_timestamp)),
        Column("LIMITED BY", lambda node, _: node.status.load.limited_by if node.status.load else "", wide=True),
        Column("LABELS", lambda node, _: label_text(node.metadata.labels), wide=True),
    ),
)


def describe_node(node: Node, reader: Reader) -> tuple[Section, ...]:
    """All there is to say about a node."""
    load = node.status.load
    carried = (
        []
        if load is None
        else [
            ("Running", f"{load.running} of {load.limit}"),
            ("Preparing", str(load.preparing)),
            ("Limited by", load.limited_by),
        ]
    )
    return sections(
        section("Node", [*identity_lines(node, reader), ("Status", _ready(node).text), ("Slots", _slots(node))]),
        section("Load", carried),
        conditions_section(node.status, reader),
    )

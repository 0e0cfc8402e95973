"""Nodes as a table."""

from tidegate.model.node import Node
from tidegate.views.table import Cell, Column, TableView, Tone, label_text


def _ready(node: Node) -> Cell:
    return Cell("Ready", Tone.GOOD) if node.status.ready else Cell("NotReady", Tone.BAD)


NODES = TableView(
    (Node,),
    (
        Column("NAME", lambda node, _: node.name),
        Column("STATUS", lambda node, _: _ready(node)),
        Column("AGE", lambda node, reader: reader.age(node.metadata.creation_timestamp)),
        Column("LABELS", lambda node, _: label_text(node.metadata.labels), wide=True),
    ),
)

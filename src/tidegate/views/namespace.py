"""Namespaces as a table."""

from tidegate.model.volume import Namespace
from tidegate.views.phases import phase_cell
from tidegate.views.table import Column, TableView, label_text

NAMESPACES = TableView(
    (Namespace,),
    (
        Column("NAME", lambda namespace, _: namespace.name),
        Column("STATUS", lambda namespace, _: phase_cell(namespace, "Ready")),
        Column("AGE", lambda namespace, reader: reader.age(namespace.metadata.creation_timestamp)),
        Column("LABELS", lambda namespace, _: label_text(namespace.metadata.labels), wide=True),
    ),
)

"""Namespaces as a table."""

from tidegate.model.volumes.protection import ProtectionState
from tidegate.model.volumes.volume import Namespace
from tidegate.views.phases import phase_cell
from tidegate.views.table import Cell, Column, TableView, Tone, joined, label_text

_BAD = frozenset({ProtectionState.FAILED_LAST, ProtectionState.LATE, ProtectionState.NEVER})


def _volumes(namespace: Namespace) -> str:
    counts = namespace.status.protection
    return "" if counts is None else str(sum(counts.values()))


def _protection(namespace: Namespace) -> Cell:
    """How many volumes are in each state, in the colour of the worst."""
    counts = namespace.status.protection or {}
    safe = counts.keys() <= {ProtectionState.PROTECTED}
    tone = Tone.BAD if counts.keys() & _BAD else Tone.GOOD if safe else Tone.WAITING
    return Cell(joined(f"{count} {state}" for state, count in counts.items()), tone if counts else Tone.PLAIN)


NAMESPACES = TableView(
    (Namespace,),
    (
        Column("NAME", lambda namespace, _: namespace.name),
        Column("STATUS", lambda namespace, _: phase_cell(namespace, "Ready")),
        Column("VOLUMES", lambda namespace, _: _volumes(namespace), right=True),
        Column("PROTECTION", lambda namespace, _: _protection(namespace)),
        Column("AGE", lambda namespace, reader: reader.age(namespace.metadata.creation_timestamp)),
        Column("LABELS", lambda namespace, _: label_text(namespace.metadata.labels), wide=True),
    ),
)

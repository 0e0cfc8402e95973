"""Phases, conditions and reasons as cells and sentences: the same for every kind that has them."""

from tidegate.model.backups.backup import BackupEvent
from tidegate.model.resource import Condition, Resource, Status
from tidegate.views.reader import Reader
from tidegate.views.table import Cell, Section, Tone, label_text, section

DELETING = "Deleting"

_GOOD = frozenset({"Completed", "Ready", "Enabled"})
_BAD = frozenset({"Failed", "PartiallyFailed", "FailedValidation", "Error", "Canceled", "Canceling"})
_WAITING = frozenset({"New", "Queued"})


def phase_tone(phase: str) -> Tone:
    """Good, bad, waiting; everything else is on its way. A half that failed already counts as bad."""
    if phase in _GOOD:
        return Tone.GOOD
    if phase in _BAD or phase.endswith("PartiallyFailed"):
        return Tone.BAD
    return Tone.WAITING if phase in _WAITING else Tone.BUSY


def shown_phase(resource: Resource, phase: str) -> str:
    """The phase, unless somebody asked for the resource to go."""
    return DELETING if resource.deleting else phase


def phase_cell(resource: Resource, phase: str) -> Cell:
    """The phase with its tone."""
    shown = shown_phase(resource, phase)
    return Cell(shown, phase_tone(shown))


def waiting_condition(status: Status) -> Condition | None:
    """Why it waits, if it does."""
    condition = status.condition("Waiting")
    return condition if condition is not None and condition.status == "True" else None


def waiting_reason(status: Status) -> str:
    """The one word for a column; empty if it waits for nothing."""
    condition = waiting_condition(status)
    return "" if condition is None else condition.reason


def waiting_message(status: Status) -> str:
    """The sentence that names what blocks; empty if it waits for nothing."""
    condition = waiting_condition(status)
    return "" if condition is None else condition.message


def waiting_section(status: Status, reader: Reader, *, position: int | None = None) -> Section:
    """Everything about the wait; no lines if there is none."""
    condition = waiting_condition(status)
    lines = [("Queue position", "" if position is None else str(position))]
    if condition is not None:
        lines += [
            ("Reason", condition.reason),
            ("Message", condition.message),
            ("Since", reader.moment_and_age(condition.last_transition_time)),
        ]
    return section("Waiting", lines)


def conditions_section(status: Status, reader: Reader) -> Section:
    """The other observations."""
    others = [condition for condition in status.conditions if condition.type != "Waiting"]
    return section("Conditions", [(condition.type, _condition_text(condition, reader)) for condition in others])


def identity_lines(resource: Resource, reader: Reader) -> list[tuple[str, str]]:
    """Who it is: the first lines of every description."""
    metadata = resource.metadata
    return [
        ("Name", metadata.name),
        ("Namespace", metadata.namespace),
        ("Labels", label_text(metadata.labels)),
        ("UID", metadata.uid),
        ("Created", reader.moment_and_age(metadata.creation_timestamp)),
        ("Deletion asked", reader.moment_and_age(metadata.deletion_timestamp)),
        ("Held by", ", ".join(metadata.finalizers) if resource.deleting else ""),
    ]


def event_line(event: BackupEvent, reader: Reader) -> tuple[str, str]:
    """When, and what happened."""
    times = f" ({event.count} times)" if event.count > 1 else ""
    return reader.moment(event.last_timestamp), f"{event.type} {event.reason}: {event.message}{times}"


def _condition_text(condition: Condition, reader: Reader) -> str:
    words = [condition.status, condition.reason, condition.message, reader.moment(condition.last_transition_time)]
    return ", ".join(word for word in words if word)

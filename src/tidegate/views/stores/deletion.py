"""Deletions as a table and as a description."""

from tidegate.model.stores.deletion import Deletion, DeletionPhase
from tidegate.views.phases import conditions_section, identity_lines, waiting_reason, waiting_section
from tidegate.views.reader import Reader
from tidegate.views.table import Cell, Column, Section, TableView, Tone, section, sections

_TONES = {
    DeletionPhase.WAITING: Tone.WAITING,
    DeletionPhase.RUNNING: Tone.BUSY,
    DeletionPhase.RETRYING: Tone.BAD,
    DeletionPhase.DONE: Tone.GOOD,
    DeletionPhase.REFUSED: Tone.BAD,
    DeletionPhase.CANCELED: Tone.PLAIN,
}
_MOST_NAMES = 100


def _state(deletion: Deletion) -> Cell:
    phase = deletion.status.phase
    if deletion.spec.cancel and not phase.final:
        phase = DeletionPhase.CANCELED
    return Cell(phase, _TONES[phase])


def _what(deletion: Deletion) -> str:
    names = deletion.spec.backups
    if not names:
        return "whole volume"
    return names[0] if len(names) == 1 else f"{len(names)} backups"


DELETIONS = TableView(
    (Deletion,),
    (
        Column("NAME", lambda deletion, _: deletion.name),
        Column("TARGET", lambda deletion, _: deletion.spec.target),
        Column("VOLUME", lambda deletion, _: deletion.spec.volume),
        Column("DELETES", lambda deletion, _: _what(deletion)),
        Column("STATUS", lambda deletion, _: _state(deletion)),
        Column("WAITS FOR", lambda deletion, _: waiting_reason(deletion.status)),
        Column("RETRY", lambda deletion, reader: reader.until(deletion.status.retry_at)),
        Column("AGE", lambda deletion, reader: reader.age(deletion.metadata.creation_timestamp)),
        Column("TRIES", lambda deletion, _: str(deletion.status.attempts or ""), wide=True, right=True),
        Column("MESSAGE", lambda deletion, _: deletion.status.message, wide=True),
    ),
)


def describe_deletion(deletion: Deletion, reader: Reader) -> tuple[Section, ...]:
    """All there is to say about one."""
    spec, status = deletion.spec, deletion.status
    names = [("Backup", name) for name in spec.backups[:_MOST_NAMES]]
    more = len(spec.backups) - len(names)
    return sections(
        section("Deletion", [*identity_lines(deletion, reader), ("Status", _state(deletion).text)]),
        section(
            "Deletes",
            [
                ("Target", spec.target),
                ("Store", spec.url),
                ("Volume", spec.volume),
                *(names or [("Backups", "all, with the volume itself")]),
                ("And", f"{more} more" if more else ""),
                ("Because of", f"{spec.upload}, which is being deleted" if spec.upload else ""),
            ],
        ),
        waiting_section(status, reader),
        section(
            "State",
            [
                ("Message", status.message),
                ("Failed tries", str(status.attempts or "")),
                ("Next try", reader.moment_and_age(status.retry_at)),
                ("Begun", reader.moment_and_age(status.started_at)),
                ("Ended", reader.moment_and_age(status.finished_at)),
            ],
        ),
        conditions_section(status, reader),
    )

"""Which lists of a status may grow with the number of volumes, and which cannot."""

from typing import get_args

from tidegate.model.frozen import Model
from tidegate.model.kinds import KINDS
from tidegate.model.row_page import LongStatus

# Why each of them stays short.
SHORT = {
    "conditions": "one for each type",
    "events": "the newest ten or twenty",
    "unmatched": "the first few, and how many more there are",
    "messages": "the first few of a sync; what Longhorn keeps with a volume",
    "problems": "the first few failures of hooks",
    "protection": "one number for each state",
    "row_pages": "one short entry for 32 Ki characters",
    "includes": "of one volume backup",
    "excludes": "of one volume backup",
    "schedules": "derived, never stored",
    "Backup.validation_errors": "what is wrong with one specification",
    "Schedule.validation_errors": "what is wrong with one specification",
}


def models_in(annotation):
    """The models that a field holds, in itself or in what it is a list of."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def lists_of(model):
    """Every field that may hold more than one thing, with those of all models inside."""
    for name, field in model.model_fields.items():
        if getattr(model, "long_fields", ()) and name in model.long_fields:
            continue
        text = str(field.annotation)
        if "tuple[" in text or "dict[" in text:
            yield name
        for inside in models_in(field.annotation):
            yield from lists_of(inside)


def test_every_list_of_a_status_is_stored_in_pages_or_known_to_stay_short():
    found = {(kind.__name__, name) for kind in KINDS for name in lists_of(kind.model_fields["status"].annotation)}

    assert {f"{kind}.{name}" for kind, name in found if name not in SHORT and f"{kind}.{name}" not in SHORT} == set()
    assert {key.rpartition(".")[2] for key in SHORT} <= {name for _, name in found}


def test_long_fields_are_lists_of_their_status():
    for kind in KINDS:
        status = kind.model_fields["status"].annotation
        if issubclass(status, LongStatus):
            assert all("tuple[" in str(status.model_fields[name].annotation) for name in status.long_fields)

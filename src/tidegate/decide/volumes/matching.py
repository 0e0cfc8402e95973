"""Whether what a backup names is there. What matches nothing is told, with the name that may have been meant."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tidegate.decide.backups.item_blocks import ordered_volumes
from tidegate.decide.queue.overlap import is_glob, selects
from tidegate.decide.volumes.last_backup import full_name
from tidegate.decide.volumes.selection import volumes_to_back_up
from tidegate.errors import InvalidInput
from tidegate.model.backups.backup import (
    EMPTY_CONDITION,
    NOTHING_MATCHED,
    UNMATCHED_ANNOTATION,
    Backup,
    BackupPhase,
    BackupSpec,
)
from tidegate.model.label_selector import LabelSelector
from tidegate.model.labels import Selector
from tidegate.model.resource import Condition
from tidegate.model.volumes.volume import Volume

_MOST_NAMED = 5
_MOST_COMPARED = 5000


@dataclass(frozen=True)
class Unmatched:
    """One thing that a backup asks for and that is not there."""

    field: str
    sentence: str


@dataclass(frozen=True)
class Match:
    """What a backup would hold, and what it asks for in vain."""

    volumes: tuple[Volume, ...]
    unmatched: tuple[Unmatched, ...]
    doubtful: tuple[Unmatched, ...] = ()
    """Names that may wait for what is still to come, and look like slips: worth a word while a person looks."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The first few of them for a person, and how many more there are."""
        return _first(self.unmatched)

    @property
    def at_creation(self) -> tuple[str, ...]:
        """The same, with what is only doubtful."""
        return _first((*self.unmatched, *self.doubtful))


def match(spec: BackupSpec, volumes: Iterable[Volume]) -> Match:
    """Judge a selection by the volumes that there are. Without any volume selected, `unmatched` is never empty."""
    there = [volume for volume in volumes if not volume.deleting]
    matched = tuple(volumes_to_back_up(spec, there))
    unmatched = tuple(_names_in_vain(spec, there))
    unmatched = unmatched or (() if matched else (_why_nothing(spec, there),))
    return Match(matched, unmatched, tuple(_doubtful_names(spec, there)))


def _first(found: Sequence[Unmatched]) -> tuple[str, ...]:
    sentences = tuple(one.sentence for one in found)
    rest = len(sentences) - _MOST_NAMED
    return sentences if rest <= 0 else (*sentences[:_MOST_NAMED], f"{rest} more match nothing")


def check_match(spec: BackupSpec, found: Match, *, above: str = "spec") -> None:
    """Raises InvalidInput for a selection that matches nothing, unless it may: nothing green must come of a slip.

    `above` is where in the document the selection stands.
    """
    if found.volumes or spec.allow_empty:
        return
    raise InvalidInput(
        f"nothing would be backed up: {'; '.join(found.sentences)}",
        field=f"{above}.{found.unmatched[0].field}",
        hint=f"if it may hold nothing, say so with --allow-empty ({above}.allowEmpty)",
    )


def with_sentences(backup: Backup, found: Match) -> Backup:
    """A new backup that says what it asks for in vain; the status is for the answer: the queue writes it.

    What a client wrote there is not taken over.
    """
    annotations = {key: value for key, value in backup.metadata.annotations.items() if key != UNMATCHED_ANNOTATION}
    if found.at_creation:
        annotations[UNMATCHED_ANNOTATION] = "\n".join(found.at_creation)
    return backup.with_metadata(annotations=annotations).with_status(unmatched=found.at_creation)


def same_selection(one: BackupSpec, other: BackupSpec) -> bool:
    """Whether both select the same volumes, whatever volumes there are."""
    return _selection(one) == _selection(other)


def _selection(spec: BackupSpec) -> tuple[object, ...]:
    names = spec.included_namespaces, spec.excluded_namespaces, spec.included_volumes
    return *names, spec.label_choices, spec.allow_empty


def _names_in_vain(spec: BackupSpec, volumes: Sequence[Volume]) -> Iterator[Unmatched]:
    """Judged one by one: what is there of one name says nothing about the slip in another."""
    namespaces = {volume.namespace for volume in volumes}
    for index, pattern in enumerate(spec.included_namespaces):
        field = f"includedNamespaces[{index}]"
        if not is_glob(pattern) and pattern not in namespaces:
            yield Unmatched(field, f"no volume is in namespace {pattern}{_meant(pattern, namespaces)}")
        elif is_glob(pattern) and not any(selects(name, included=(pattern,), excluded=()) for name in namespaces):
            yield Unmatched(field, f"no volume is in a namespace that matches {pattern}")
    if spec.included_volumes:
        names = {full_name(volume) for volume in volumes}
        missing = [(index, name) for index, name in enumerate(spec.included_volumes) if name not in names]
        for place, (index, name) in enumerate(missing):
            # A guess compares the name with all that are there, and only the first few are shown.
            meant = _meant(name, names) if place < _MOST_NAMED else ""
            yield Unmatched(f"includedVolumes[{index}]", f"there is no volume {name}{meant}")
    for choice in spec.label_choices:
        selector = Selector.matching(choice.match_labels)
        if not any(selector.holds_for(volume.metadata.labels) for volume in volumes):
            field = "labelSelector" if choice is spec.label_selector else "orLabelSelectors"
            yield Unmatched(field, _no_such_label(choice, volumes))


def _doubtful_names(spec: BackupSpec, volumes: Sequence[Volume]) -> Iterator[Unmatched]:
    """What is left out, or goes first, need not be there yet; but a slip leaves nothing out, and nothing goes first."""
    namespaces = {volume.namespace for volume in volumes}
    for index, name in enumerate(spec.excluded_namespaces):
        meant = "" if is_glob(name) or name in namespaces else _meant(name, namespaces)
        if meant:
            yield Unmatched(f"excludedNamespaces[{index}]", f"no namespace {name} can be left out{meant}")
    names = {full_name(volume) for volume in volumes}
    missing = [name for name in ordered_volumes(spec.ordered_resources) if name not in names]
    for place, name in enumerate(missing):
        meant = _meant(name, names) if place < _MOST_NAMED else ""
        yield Unmatched("orderedResources", f"there is no volume {name} that could go first{meant}")


def _no_such_label(wanted: LabelSelector, volumes: Sequence[Volume]) -> str:
    known = {f"{key}={value}" for volume in volumes for key, value in volume.metadata.labels.items()}
    strange = next((word for word in wanted.words.split(",") if word not in known), "")
    return f"no volume has the label {wanted.words}{_meant(strange, known)}"


def _why_nothing(spec: BackupSpec, volumes: Sequence[Volume]) -> Unmatched:
    """Each name is there, and still no volume has all that is asked for."""
    if not volumes:
        return Unmatched("includedNamespaces", "there is no volume yet; add one: tidegate volume create NAMESPACE/NAME")
    if not volumes_to_back_up(spec.replace(label_selector=None, or_label_selectors=()), volumes):
        return Unmatched("excludedNamespaces", "what is excluded leaves no volume of what is included")
    labels = " or ".join(choice.words for choice in spec.label_choices)
    return Unmatched("labelSelector", f"no volume among those selected has the label {labels}")


def _meant(name: str, known: Iterable[str]) -> str:
    """A question for a name that is much like one that is there; empty if none is."""
    close = difflib.get_close_matches(name, sorted(known)[:_MOST_COMPARED], n=1) if name else []
    return f" (did you mean {close[0]}?)" if close else ""


def ended_empty(backup: Backup) -> Backup:
    """The backup, of which nothing is left to do and no volume was moved, as it ends."""
    status = backup.status
    why = "; ".join(status.unmatched) or f"every volume was deleted before its turn came: {_some(status.gone_volumes)}"
    message = f"nothing was backed up: {why}"
    if backup.spec.allow_empty:
        message = "nothing matched, as allowed; it holds nothing"
        ended = backup.with_status(phase=BackupPhase.FINALIZING, warnings=0)
    else:
        ended = backup.with_status(
            phase=BackupPhase.FINALIZING_PARTIALLY_FAILED,
            failure_reason=f"{NOTHING_MATCHED}: {message}",
            errors=status.errors + 1,
            warnings=0,  # the error says what they would repeat
        )
    condition = Condition(type=EMPTY_CONDITION, status="True", reason=NOTHING_MATCHED, message=message)
    return ended.replace(status=ended.status.with_condition(condition))


def _some(names: Sequence[str]) -> str:
    rest = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")

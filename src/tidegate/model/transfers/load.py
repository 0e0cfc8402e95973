"""How much each node may carry: the JSON of the load-concurrency setting, as Velero's node-agent knows it."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

from tidegate.model.frozen import Model
from tidegate.model.mistakes import Shape, first_mistake, quoted, read_json
from tidegate.model.transfers.node_selector import MatchExpression, NodeSelector

ENVELOPE = "loadConcurrency"
_MOST = 1_000_000


class NodeLimit(NamedTuple):
    """How many transfers a node may move at once, and which number said so."""

    number: int
    given_by: str
    apart: bool = False
    """Whether the number holds for backups and for restores each, and not for both together."""

    @property
    def total(self) -> int:
        """The most that ever move at once."""
        return self.number * 2 if self.apart else self.number


_DEFAULT = NodeLimit(1, "default: 1 backup, 1 restore", apart=True)


class PerNodeRule(Model):
    """A limit for some nodes."""

    node_selector: NodeSelector
    number: int = Field(ge=1, le=_MOST, strict=True)


class LoadConcurrency(Model):
    """The limits of all nodes, and how many transfers may be made ready ahead of them."""

    global_config: int | None = Field(default=None, ge=1, le=_MOST, strict=True)
    """For nodes that no rule chooses. Absent: one backup and one restore at once."""
    per_node_config: tuple[PerNodeRule, ...] = ()
    """Of the rules that choose a node the smallest number holds; it may be larger than globalConfig."""
    prepare_queue_length: int | None = Field(default=None, le=_MOST, strict=True)
    """How many transfers of all kinds may be Accepted or Prepared. Absent, zero or negative: unconstrained."""
    restore_share: int = Field(default=1, ge=0, le=_MOST, strict=True)
    """So many restores go before older backups on each node, and so many places of the prepare queue are never taken
    by backups that must wait for their node."""

    @field_validator("restore_share")
    @classmethod
    def _fits_into_the_queue(cls, share: int, info: ValidationInfo) -> int:
        """Exactly as long is allowed: a backup whose node has room takes any place."""
        length = info.data.get("prepare_queue_length")
        if length is not None and 0 < length < share:
            raise ValueError(
                f"{share} places for restores do not fit into a prepareQueueLength of {length}; "
                "lower the one or raise the other"
            )
        return share

    @property
    def prepare_limit(self) -> int | None:
        """The length of the prepare queue; None when it is unconstrained."""
        length = self.prepare_queue_length
        return length if length is not None and length > 0 else None

    def limit_for(self, labels: Mapping[str, str], *, slots: int | None = None) -> NodeLimit:
        """What holds for a node with these labels that can bear `slots` at most (None: the settings alone decide)."""
        matching = [
            NodeLimit(rule.number, f"perNodeConfig[{place}] {rule.node_selector.text}")
            for place, rule in enumerate(self.per_node_config)
            if rule.node_selector.matches(labels)
        ]
        # By number alone: of equal ones the first is named.
        without_rule = _DEFAULT if self.global_config is None else NodeLimit(self.global_config, "globalConfig")
        limit = min(matching, key=lambda found: found.number, default=without_rule)
        return NodeLimit(slots, "slots of the node") if slots is not None and slots < limit.total else limit

    def render(self) -> str:
        """The JSON that `parse_load_concurrency` reads back as the same value; defaults are left out."""
        return json.dumps(self.model_dump(mode="json", by_alias=True, exclude_defaults=True))


def _wire_names(model: type[Model]) -> tuple[str, ...]:
    return tuple(to_camel(name) for name in model.model_fields)


_FIELDS = _wire_names(LoadConcurrency)
_SHAPE = Shape(
    keys={
        "": _FIELDS,
        "perNodeConfig": _wire_names(PerNodeRule),
        "nodeSelector": _wire_names(NodeSelector),
        "matchExpressions": _wire_names(MatchExpression),
    },
    homes={
        **dict.fromkeys(_FIELDS, f"{ENVELOPE} itself"),
        **dict.fromkeys(_wire_names(PerNodeRule), "perNodeConfig[N]"),
        **dict.fromkeys(_wire_names(NodeSelector), "perNodeConfig[N].nodeSelector"),
        **dict.fromkeys(_wire_names(MatchExpression), "matchExpressions[N]"),
    },
)


def parse_load_concurrency(text: str) -> LoadConcurrency:
    """Read the setting; raises ValueError with the path of the mistake. See `load_concurrency_from`."""
    return load_concurrency_from(read_json(text))


def load_concurrency_from(document: object) -> LoadConcurrency:
    """From Velero's document `{"loadConcurrency": {...}}` or from what is inside of it.

    Velero ignores what it does not know, so that a number in the wrong place limits nothing and nobody is told. Here
    everything that has no effect is refused. Raises ValueError with the path of the mistake.
    """
    inner, before = _without_envelope(document)
    try:
        # Only the names of the wire: a file that Velero would not understand should not work here either.
        return LoadConcurrency.model_validate(inner, by_alias=True, by_name=False)
    except ValidationError as error:
        raise ValueError(_below(before, first_mistake(error, _SHAPE))) from None


def _without_envelope(document: object) -> tuple[object, str]:
    if not isinstance(document, dict) or ENVELOPE not in document:
        return document, ""
    for key in document:
        if key in _FIELDS:
            raise ValueError(f"{key}: belongs into {ENVELOPE}, not beside it")
        if key != ENVELOPE:
            raise ValueError(f"{quoted(key)}: is not known beside {ENVELOPE}; remove it")
    return document[ENVELOPE], ENVELOPE


def _below(place: str, sentence: str) -> str:
    if not place:
        return sentence
    path, _, rest = sentence.partition(": ")
    return f"{place}: {rest}" if path == "the document" else f"{place}.{sentence}"

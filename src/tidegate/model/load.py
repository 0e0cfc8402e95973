"""How much each node may carry: the JSON of the load-concurrency setting, as Velero's node-agent knows it."""

import json

from pydantic import Field, ValidationError

from tidegate.model.frozen import Model


class NodeSelector(Model):
    """Nodes that carry all of these labels."""

    match_labels: dict[str, str] = Field(default_factory=dict)


class PerNodeRule(Model):
    """A limit for some nodes."""

    node_selector: NodeSelector
    number: int = Field(ge=1)


class LoadConcurrency(Model):
    """The limits of all nodes."""

    global_config: int = Field(default=1, ge=1)
    per_node_config: tuple[PerNodeRule, ...] = ()
    prepare_queue_length: int | None = None
    """Absent, zero or negative: unconstrained."""
    restore_share: int = Field(default=1, ge=0)
    """How many places of the prepare queue are kept for restores while any waits."""


def parse_load_concurrency(text: str) -> LoadConcurrency:
    """Read the setting; raises ValueError with the path of the mistake."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    try:
        return LoadConcurrency.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"]) or "the document"
        raise ValueError(f"{path}: {first['msg']}") from None

"""The shape of every resource: who it is, what is wanted, what is."""

from datetime import datetime
from typing import Annotated, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field

from tidegate.model.frozen import Model
from tidegate.model.labels import check_labels
from tidegate.model.names import Name
from tidegate.model.reasons import Reason

API_VERSION: Final = "tidegate.dev/v1alpha1"


def _checked_labels(labels: dict[str, str]) -> dict[str, str]:
    check_labels(labels)
    return labels


Labels = Annotated[dict[str, str], AfterValidator(_checked_labels)]


class Ref(NamedTuple):
    """Which resource: enough to find it again, and the key that controllers work on."""

    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        """As people write it: `Volume shop/db`, `Backup nightly`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class OwnerReference(Model):
    """When the owner with this uid is gone, so is the resource that carries the reference."""

    kind: str
    name: str
    uid: str


class Metadata(Model):
    """Who a resource is. Callers give names, labels, annotations, finalizers and owners; the rest is the store's."""

    name: Name
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    """Opaque; changes with every write. A write that carries an old one is refused."""
    generation: int = 0
    """Counts changes of the spec."""
    labels: Labels = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    """Who must still clean up before a deleted resource may vanish."""
    owner_references: tuple[OwnerReference, ...] = ()
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None


class Condition(Model):
    """One observation about a resource that a person or `kubectl wait` may ask for."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


class Spec(Model):
    """What is wanted. Written by the API only."""


class Status(Model):
    """What is. Each step has exactly one controller that writes it."""

    conditions: tuple[Condition, ...] = ()

    def condition(self, kind: str) -> Condition | None:
        """The condition of this type, if it was ever observed."""
        return next((condition for condition in self.conditions if condition.type == kind), None)

    def with_condition(self, new: Condition) -> Self:
        """A copy with `new` in place of its older self. The transition time moves only when the status does."""
        old = self.condition(new.type)
        if old is not None and old.status == new.status:
            new = new.replace(last_transition_time=old.last_transition_time)
        kept = tuple(condition for condition in self.conditions if condition.type != new.type)
        return self.replace(conditions=(*kept, new))

    def without_condition(self, kind: str) -> Self:
        """A copy that no longer speaks of this type."""
        return self.replace(conditions=tuple(c for c in self.conditions if c.type != kind))

    def waiting(self, reason: Reason, message: str, *, since: datetime) -> Self:
        """A copy that says why it waits. `since` counts from the beginning of this wait, whatever the reasons were."""
        condition = Condition(type="Waiting", status="True", reason=reason, message=message, last_transition_time=since)
        return self.with_condition(condition)

    def no_longer_waiting(self) -> Self:
        """A copy that waits for nothing."""
        return self.without_condition("Waiting")


class Resource(Model):
    """A thing with a name that the system stores, watches and works on."""

    plural: ClassVar[str]
    namespaced: ClassVar[bool] = False

    api_version: Literal["tidegate.dev/v1alpha1"] = API_VERSION
    kind: str
    metadata: Metadata
    spec: Spec
    status: Status

    @property
    def name(self) -> str:
        """Short for metadata.name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """Short for metadata.namespace; empty for kinds that have none."""
        return self.metadata.namespace

    @property
    def ref(self) -> Ref:
        """Which resource this is."""
        return Ref(self.kind, self.metadata.name, self.metadata.namespace)

    @property
    def is_over(self) -> bool:
        """Whether its work is over, so that it hardly changes any more and is seldom read."""
        return bool(getattr(getattr(self.status, "phase", None), "final", False))

    @property
    def deleting(self) -> bool:
        """Whether somebody asked for it to go; finalizers may still hold it."""
        return self.metadata.deletion_timestamp is not None

    def to_wire(self) -> dict[str, object]:
        """As clients get it: without what only the store needs."""
        return self.model_dump(mode="json", exclude_none=True, exclude={"status": {"row_pages"}})

    def with_status(self, **changes: object) -> Self:
        """A copy with these status fields changed."""
        return self.replace(status=self.status.replace(**changes))

    def with_metadata(self, **changes: object) -> Self:
        """A copy with these metadata fields changed."""
        return self.replace(metadata=self.metadata.replace(**changes))

    def with_spec(self, **changes: object) -> Self:
        """A copy with these spec fields changed."""
        return self.replace(spec=self.spec.replace(**changes))

    def as_owner(self) -> OwnerReference:
        """The reference that a dependent carries."""
        return OwnerReference(kind=self.kind, name=self.metadata.name, uid=self.metadata.uid)

"""A transfer as the gates remember it, and where it stands."""

from dataclasses import dataclass
from typing import NamedTuple

from tidegate.decide.transfers.prepare_count import PREPARING
from tidegate.decide.transfers.restore_limit import RESTORE_PRIORITY_LABEL, asked_at, holds_slot
from tidegate.model.resource import Ref
from tidegate.model.transfers.transfer import Transfer, TransferPhase


class Place(NamedTuple):
    """Where one stands: who was asked for first goes first, and the rest only keeps the order fixed."""

    asked: int
    name: str
    kind: str

    @property
    def ref(self) -> Ref:
        """Who stands there."""
        return Ref(self.kind, self.name)


class NewLane(NamedTuple):
    """What those that are New wait for alike."""

    restore: bool
    has_slot: bool
    """Whether it holds a slot of the restore limit already: its label was written, the rest was cut short."""
    target: str
    node: str | None
    """Where its data is; None: any node will do."""


@dataclass(frozen=True, slots=True)
class TransferEntry:
    """A transfer as the gates remember it: little, for there may be very many."""

    place: Place
    phase: TransferPhase
    restore: bool
    volume: tuple[str, str]
    target: str
    wanted_node: str | None
    node: str | None
    label: str
    """What it says of its place among the restores."""
    has_slot: bool
    leaving: bool
    """It shall be cancelled or deleted, or is refused: a gate lets it take nothing any more."""
    asleep: bool
    """It waits for a lock in its store, and for no gate."""
    why: tuple[str, str]
    """The reason and the message that are stored: why it waits, as far as anyone was told."""
    owner: str
    """The uid of the request that it belongs to; empty if to none."""

    @classmethod
    def of(cls, transfer: Transfer) -> "TransferEntry":
        """What matters of a stored transfer."""
        spec, status, waiting = transfer.spec, transfer.status, transfer.status.condition("Waiting")
        restore = transfer.direction == "download"
        return cls(
            place=Place(asked_at(transfer), transfer.name, transfer.kind),
            phase=status.phase,
            restore=restore,
            volume=(spec.volume_namespace, spec.volume_name),
            target=spec.target,
            wanted_node=spec.node,
            # One that must begin anew may still name the node that it was on.
            node=None if status.phase is TransferPhase.NEW else status.node,
            label=transfer.metadata.labels.get(RESTORE_PRIORITY_LABEL, "") if restore else "",
            has_slot=holds_slot(transfer),
            leaving=spec.cancel or transfer.deleting or spec.refused is not None,
            asleep=status.phase is TransferPhase.NEW and status.retry_at is not None,
            why=(waiting.reason, waiting.message) if waiting else ("", ""),
            owner=next((owner.uid for owner in transfer.metadata.owner_references), ""),
        )

    @property
    def ref(self) -> Ref:
        """Which transfer this is."""
        return self.place.ref

    @property
    def under_way(self) -> bool:
        """Whether it is on its node, or about to be."""
        return self.phase in PREPARING or self.phase.moving

    @property
    def load(self) -> "Load":
        """What it weighs on once it is on its node."""
        return self.node or "", self.restore

    @property
    def lane(self) -> NewLane:
        """Where it waits while it is New."""
        return NewLane(self.restore, self.has_slot, self.target, self.wanted_node)


Load = tuple[str, bool]
"""A node's name, and whether restores or backups are meant."""

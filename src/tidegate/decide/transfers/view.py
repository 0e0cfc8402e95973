"""What decisions read of the transfers: a look at one moment, whoever keeps it up to date."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from tidegate.decide.transfers.entry import Load, NewLane, Place, TransferEntry
from tidegate.model.resource import Ref


class LaneView(Protocol):
    """Transfers that wait for the same thing, in their order: what stops one of them stops them all."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Place]: ...

    def __getitem__(self, index: int, /) -> Place: ...

    def ahead_of(self, place: Place) -> int:
        """How many stand before it, whether it is in this lane or not."""
        ...

    def told(self, reason: str) -> Iterable[Place]:
        """Those for which this reason is stored."""
        ...

    def told_otherwise(self, reason: str) -> Iterator[Place]:
        """Those for which another reason is stored."""
        ...


class GateView(Protocol):
    """The transfers that are not over. It stays as it is while one plan is made."""

    @property
    def new(self) -> Mapping[NewLane, LaneView]:
        """Those that wait for a place in the prepare queue, or for a slot before that."""
        ...

    @property
    def prepared(self) -> Mapping[Load, LaneView]:
        """Those that wait for their node."""
        ...

    @property
    def moving(self) -> Counter[Load]:
        """Transfers that take one of their node's slots."""
        ...

    @property
    def carried(self) -> Counter[Load]:
        """Transfers that are being prepared, are prepared or move."""
        ...

    @property
    def coming(self) -> Counter[Load]:
        """Transfers that are being prepared and shall move."""
        ...

    @property
    def asleep(self) -> int:
        """Transfers that wait for a lock in their store."""
        ...

    @property
    def restoring(self) -> int:
        """Restores that hold a slot."""
        ...

    @property
    def restoring_on(self) -> Counter[str]:
        """The same by node."""
        ...

    @property
    def last_end(self) -> Mapping[str, int]:
        """When a transfer last ended on a node, as places in line are counted."""
        ...

    def entry(self, ref: Ref) -> TransferEntry | None:
        """One that is not over."""
        ...

    def preparing(self) -> Mapping[str, int]:
        """How many are Accepted or Prepared, by kind."""
        ...

    def uploading(self, volume: tuple[str, str]) -> Ref | None:
        """The upload that moves this volume now."""
        ...

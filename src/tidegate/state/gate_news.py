"""Whether any transfer changed, since the last pass of the gates began, in a way that a plan could depend on."""

from dataclasses import dataclass, field

from tidegate.model.resource import Ref
from tidegate.model.transfers.transfer import Transfer


@dataclass
class GateNews:
    """The gates' own writes are no news to them."""

    _versions: dict[Ref, str] = field(default_factory=dict)
    _own: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return any(version not in self._own for version in self._versions.values())

    def begin_pass(self) -> None:
        """What has come so far is planned with now."""
        self._versions.clear()
        self._own.clear()

    def note(self, transfer: Transfer) -> None:
        """It came or changed."""
        self._versions[transfer.ref] = transfer.metadata.resource_version

    def forget(self, transfer: Transfer) -> None:
        """It is gone, which is news whatever was written last."""
        self._versions[transfer.ref] = ""

    def wrote(self, transfer: Transfer) -> None:
        """The gates have written this themselves."""
        self._own.add(transfer.metadata.resource_version)

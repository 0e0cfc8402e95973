"""Deletes that are only noted down: hidden in a real catalogue, carried out by nobody."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tidegate.errors import NotFound
from tidegate.model.resource import Metadata
from tidegate.model.stores.deletion import Deletion, DeletionPhase, DeletionSpec
from tidegate.ports.catalogue import Catalogue


@dataclass
class NotedDeletions:
    """Keeps what ports.deletions promises to whoever asks; nothing is ever removed from a store."""

    catalogue: Catalogue
    noted: dict[str, Deletion] = field(default_factory=dict)

    async def ask(self, target: str, volume: str, backups: Sequence[str] | None = None) -> Deletion:
        """See Deletions."""
        spec = DeletionSpec(target=target, url="file:///nowhere", volume=volume, backups=tuple(backups or ()))
        for known in self.noted.values():
            if known.spec == spec:
                return known
        name = f"deletion-{len(self.noted) + 1}"
        await self.catalogue.hide(target, volume, *spec.backups)
        self.noted[name] = Deletion(metadata=Metadata(name=name), spec=spec)
        return self.noted[name]

    async def cancel(self, name: str) -> Deletion:
        """See Deletions."""
        if name not in self.noted:
            raise NotFound(f"there is no deletion {name}")
        known = self.noted.pop(name)
        await self.catalogue.unhide(known.spec.target, known.spec.volume, *known.spec.backups)
        return known.with_status(phase=DeletionPhase.CANCELED)

    async def list(self, *, target: str = "", volume: str = "") -> list[Deletion]:
        """See Deletions."""
        return [
            one
            for one in reversed(self.noted.values())
            if target in {"", one.spec.target} and volume in {"", one.spec.volume}
        ]

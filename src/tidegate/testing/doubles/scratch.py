"""Scratch places that do what the test says."""

from dataclasses import dataclass, field

from tidegate.errors import DestinationUnusable


@dataclass
class FakeScratch:
    """Keeps the promise of ScratchRoom without a disk."""

    free: int = 10**12
    stuck: str = ""
    """Why nothing can be removed, if so."""
    made: set[str] = field(default_factory=set)
    """Places that exist now."""

    def place(self, wished: str, uid: str) -> str:
        """See ScratchRoom."""
        return f"{wished or '/scratch'}/{uid}"

    async def free_bytes(self, place: str) -> int:
        """See ScratchRoom."""
        self.made.add(place)
        return self.free

    async def remove(self, place: str) -> None:
        """See ScratchRoom."""
        if self.stuck:
            raise DestinationUnusable(self.stuck)
        self.made.discard(place)

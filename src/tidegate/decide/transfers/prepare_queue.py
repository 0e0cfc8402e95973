"""Who may be prepared now: so many snapshots and idle movers at a time, never all of them for nodes that are full."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PrepareQueue:
    """How full it is: transfers that are Accepted or Prepared, of all kinds.

    One whose node has room soon leaves its place again. One that is made ready ahead of its node's turn keeps its place
    for as long as another transfer moves. So a place is always left for those whose node has room, and `share`
    places, that one among them, are not taken by backups ahead of their node's turn.
    """

    length: int | None
    """None, zero or negative: unconstrained."""
    share: int
    backups: int
    restores: int
    ahead: int = 0
    """Those of them that were made ready ahead of their node's turn."""
    spare: int = 1
    """Places that nobody takes ahead of a node's turn; none where all transfers wait for the same."""

    @property
    def full(self) -> bool:
        """Whether no place is left at all."""
        return self._limited and self.backups + self.restores >= (self.length or 0)

    def has_place(self, *, restore: bool, node_has_room: bool) -> bool:
        """Whether one more may be prepared."""
        if not self._limited:
            return True
        return not self.full and (node_has_room or self.ahead < self._most_ahead(restore=restore))

    def why_full(self) -> str:
        """What to tell one that gets no place, because none is left."""
        return (
            f"{self.backups + self.restores}/{self.length} "
            f"({_count(self.backups, 'backup')}, {_count(self.restores, 'restore')})"
        )

    def why_not_ahead(self, *, restore: bool) -> str:
        """What to tell one that gets no place before its node has room."""
        others = "nodes with room" if restore or not self.share else "nodes with room and for restores"
        return f"{self.ahead} made ready ahead, the other places are for {others}"

    @property
    def _limited(self) -> bool:
        return self.length is not None and self.length > 0

    def _most_ahead(self, *, restore: bool) -> int:
        return (self.length or 0) - (self.spare if restore else max(self.spare, self.share))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

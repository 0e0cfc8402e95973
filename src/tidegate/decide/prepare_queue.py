"""Who may be prepared now: so many snapshots and idle movers at a time, and none of the places lost to restores."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PrepareQueue:
    """How full it is: transfers that are Accepted or Prepared, of all kinds."""

    length: int | None
    """None, zero or negative: unconstrained."""
    share: int
    """So many places are kept for restores while any could use them. Backups that were there first keep theirs until
    they move; the next place that becomes free is a restore's, so no row of backups can keep one waiting."""
    backups: int
    restores: int
    restores_in_line: int
    """Restores that are New and for which only slots or places are missing. One whose target is down, or that is
    paused, keeps no place: it could not use it."""

    @property
    def kept(self) -> int:
        """Places that a backup may not take now."""
        return max(0, self.share - self.restores) if self.restores_in_line else 0

    def has_place(self, *, restore: bool) -> bool:
        """Whether one more may be prepared."""
        if self.length is None or self.length <= 0:
            return True
        free = self.length - self.backups - self.restores
        return free > (0 if restore else self.kept)

    def why_not(self, *, restore: bool) -> str:
        """What to tell one that gets no place."""
        message = f"{self.backups + self.restores}/{self.length} ({_count(self.backups, 'backup')}, "
        message += f"{_count(self.restores, 'restore')})"
        return message if restore or not self.kept else f"{message}, {self.kept} kept for restores"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

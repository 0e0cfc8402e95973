"""What was written last is written next: progress comes again and again for the same few resources."""

from collections import OrderedDict
from collections.abc import Iterable

from tidegate.model.resource import Ref, Resource
from tidegate.ports.resource_store import Change
from tidegate.resources.sqlite.rows import SqliteRows
from tidegate.resources.writes import Effect

# At about 10 KiB each.
_KEPT = 1024


class RecentRows:
    """SqliteRows that need not be read and decoded again. True only while nobody else writes to the database."""

    def __init__(self, rows: SqliteRows) -> None:
        self._rows = rows
        self._recent: OrderedDict[Ref, Resource] = OrderedDict()

    def find(self, ref: Ref) -> Resource | None:
        """See Rows."""
        return self._recent.get(ref) or self._rows.find(ref)

    def dependents(self, uid: str) -> Iterable[Resource]:
        """See Rows."""
        return self._rows.dependents(uid)

    def lives(self, uid: str) -> bool:
        """See Rows."""
        return self._rows.lives(uid)

    def apply(self, effect: Effect) -> None:
        """Carry it out and remember what came of it."""
        self._rows.apply(effect)
        ref = effect.event.resource.ref
        if effect.event.change is Change.DELETED:
            self._recent.pop(ref, None)
            return
        self._recent[ref] = effect.event.resource
        self._recent.move_to_end(ref)
        if len(self._recent) > _KEPT:
            self._recent.popitem(last=False)

    def forget(self) -> None:
        """After a rollback: what was remembered did not come to be."""
        self._recent.clear()

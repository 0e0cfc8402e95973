"""As many requests at a time as the store likes: half as many when it complains, slowly more while it does not."""

import contextlib
import threading
from collections.abc import Iterator

from tidegate.errors import StoreBusy
from tidegate.objects.pass_through import PassThrough
from tidegate.ports.object_store import Listing, ObjectInfo, ObjectStore

_MOST = 64.0
_FEWEST = 1.0


class InFlightLimit:
    """Additive increase, multiplicative decrease, as TCP does it. Pure: counts answers, knows no time."""

    def __init__(self, most: float = _MOST) -> None:
        self._most = most
        self._limit = most
        self._answers_since_cut = most

    @property
    def value(self) -> int:
        """Requests that may be under way at once."""
        return int(self._limit)

    def went_well(self) -> None:
        """An answer: one more request at a time after as many answers as there are requests."""
        self._answers_since_cut += 1
        self._limit = min(self._most, self._limit + 1 / self._limit)

    def was_too_much(self) -> None:
        """A complaint. Those of requests that were under way together count once."""
        if self._answers_since_cut >= self._limit:
            self._limit = max(_FEWEST, self._limit / 2)
            self._answers_since_cut = 0
        self._answers_since_cut += 1


class PacedObjects(PassThrough):
    """Passes everything on, never more at a time than the store has shown to like.

    `list_all` takes no turn: it is one page at a time by nature, and a slow reader would keep its turn for long.
    """

    def __init__(self, inner: ObjectStore) -> None:
        super().__init__(inner)
        self._limit = InFlightLimit()
        self._under_way = 0
        self._changed = threading.Condition()

    @property
    def limit(self) -> int:
        """Requests that may be under way at once, now."""
        return self._limit.value

    def get(self, key: str, *, at_most: int) -> bytes:
        """See ObjectStore."""
        with self._turn():
            return self._inner.get(key, at_most=at_most)

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        with self._turn():
            self._inner.put(key, body, lazily=lazily)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore."""
        with self._turn():
            return self._inner.put_if_absent(key, body, lazily=lazily)

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore."""
        with self._turn():
            return self._inner.head(key)

    def list_level(self, prefix: str) -> Listing:
        """See ObjectStore."""
        with self._turn():
            return self._inner.list_level(prefix)

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        with self._turn():
            self._inner.delete(key)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: self._under_way < self._limit.value)
            self._under_way += 1
        try:
            yield
        except StoreBusy:
            self._end(complained=True)
            raise
        except BaseException:
            self._end(complained=False)
            raise
        self._end(complained=False)

    def _end(self, *, complained: bool) -> None:
        with self._changed:
            self._under_way -= 1
            if complained:
                self._limit.was_too_much()
            else:
                self._limit.went_well()
            self._changed.notify_all()

"""A store that fails when told to: one call at a time, by the weather, or for ever after so many writes.

Or that lets others work between two calls of ours.
"""

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator

from tidegate.objects.pass_through import PassThrough
from tidegate.ports.object_store import Listing, ObjectInfo, ObjectStore
from tidegate.testing.stores.weather import Trouble, Weather, error_of

# Longer than any lock lives.
SLOW_SECONDS = 200.0


class ProcessDied(Exception):
    """Stands for a kill: from here on nothing reaches the store any more, no clean-up either."""


class FaultyObjects(PassThrough):
    """Passes everything on to a real store, except for what a test asked to fail.

    `weather` may be changed or taken away at any time. Slow calls take their time from `pass_time`: nobody sleeps.
    """

    def __init__(
        self,
        inner: ObjectStore,
        *,
        dies_after_writes: int | None = None,
        weather: Weather | None = None,
        pass_time: Callable[[float], None] = lambda _seconds: None,
    ) -> None:
        super().__init__(inner)
        self._lock = threading.Lock()
        self._faults: defaultdict[str, deque[Exception]] = defaultdict(deque)
        self._writes_left = dies_after_writes
        self._pass_time = pass_time
        self._interruptions: dict[int, Callable[[], None]] = {}
        self._seen: dict[tuple[str, str], list[ObjectInfo] | Listing] = {}
        self.weather = weather
        self.calls: list[tuple[str, str]] = []

    def fail(self, method: str, error: Exception, *, times: int = 1) -> None:
        """Let the next calls of `method` raise `error` instead of doing anything."""
        self._faults[method].extend([error] * times)

    def die(self) -> None:
        """From here on nothing gets through."""
        self._writes_left = 0

    def interrupt(self, *, before_call: int, meanwhile: Callable[[], None]) -> None:
        """Let `meanwhile` happen before the call of this number, counted from 0 and over all methods."""
        self._interruptions[before_call] = meanwhile

    def get(self, key: str, *, at_most: int) -> bytes:
        """See ObjectStore."""
        trouble = self._begin("get", key)
        body = self._inner.get(key, at_most=at_most)
        return body[: len(body) // 2] if trouble is Trouble.TRUNCATED else body

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        trouble = self._begin("put", key, writes=True)
        self._inner.put(key, body, lazily=lazily)
        self._end("put", key, trouble)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore."""
        trouble = self._begin("put_if_absent", key, writes=True)
        created = self._inner.put_if_absent(key, body, lazily=lazily)
        self._end("put_if_absent", key, trouble)
        return created

    def flush(self) -> None:
        """See ObjectStore."""
        self._begin("flush", "")
        self._inner.flush()

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore."""
        self._begin("head", key)
        return self._inner.head(key)

    def list_level(self, prefix: str) -> Listing:
        """See ObjectStore."""
        trouble = self._begin("list_level", prefix)
        if trouble is Trouble.BROKEN_LISTING:
            raise error_of(trouble, f"list_level {prefix}")
        if trouble is Trouble.STALE_LISTING:
            old = self._seen.get(("list_level", prefix), Listing((), ()))
            return old if isinstance(old, Listing) else Listing((), ())
        listing = self._inner.list_level(prefix)
        self._seen["list_level", prefix] = listing
        return listing

    def list_all(self, prefix: str) -> Iterator[ObjectInfo]:
        """See ObjectStore."""
        trouble = self._begin("list_all", prefix)
        if trouble is Trouble.STALE_LISTING:
            old = self._seen.get(("list_all", prefix), [])
            yield from old if isinstance(old, list) else []
            return
        listed = list(self._inner.list_all(prefix))
        self._seen["list_all", prefix] = listed
        if trouble is Trouble.BROKEN_LISTING:
            yield from listed[: len(listed) // 2]
            raise error_of(trouble, f"list_all {prefix}")
        yield from listed

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        trouble = self._begin("delete", key, writes=True)
        self._inner.delete(key)
        self._end("delete", key, trouble)

    def _begin(self, method: str, key: str, *, writes: bool = False) -> Trouble | None:
        """What this call meets; raises where it is not done at all."""
        self._enter(method, key, writes=writes)
        trouble = self.weather.meets(method, key) if self.weather else None
        if trouble in {Trouble.SLOW, Trouble.TIMEOUT}:
            self._pass_time(SLOW_SECONDS)
        if trouble in {Trouble.AWAY, Trouble.REFUSED, Trouble.FULL, Trouble.THROTTLED, Trouble.TIMEOUT}:
            raise error_of(trouble, f"{method} {key}")
        return trouble

    @staticmethod
    def _end(method: str, key: str, trouble: Trouble | None) -> None:
        if trouble is Trouble.LOST_ANSWER:
            raise error_of(trouble, f"{method} {key}")

    def _enter(self, method: str, key: str, *, writes: bool = False) -> None:
        with self._lock:
            if self._writes_left is not None:
                if self._writes_left == 0:
                    raise ProcessDied(f"died before {method} {key}")
                self._writes_left -= writes
            meanwhile = self._interruptions.pop(len(self.calls), None)
            self.calls.append((method, key))
            if self._faults[method]:
                raise self._faults[method].popleft()
            if meanwhile is not None:  # inside: a client that is frozen is frozen with all its threads
                meanwhile()

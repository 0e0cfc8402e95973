"""Stores that know what a power cut would take: one is cut when told to, one shows each instant afterwards."""

from collections.abc import Iterator

from tidegate.objects.memory import MemoryObjects
from tidegate.ports.clock import Clock


class LosingObjects(MemoryObjects):
    """A MemoryObjects that loses in a power cut all that it may lose: what was put lazily and never flushed."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._lazy: set[str] = set()

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        super().put(key, body, lazily=lazily)
        (self._lazy.add if lazily else self._lazy.discard)(key)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore."""
        created = super().put_if_absent(key, body, lazily=lazily)
        if created and lazily:
            self._lazy.add(key)
        return created

    def flush(self) -> None:
        """See ObjectStore."""
        self._lazy.clear()

    def cut_power(self) -> None:
        """Lose what may be lost."""
        for key in list(self._lazy):
            self.delete(key)
        self._lazy.clear()


class RecordedObjects(MemoryObjects):
    """A MemoryObjects that knows which of its objects a power cut would take: the worst that the port allows."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._durable: dict[str, bytes] = {}
        self._lazy: dict[str, bytes] = {}
        self._states: list[dict[str, bytes]] = []

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        super().put(key, body, lazily=lazily)
        self._note(key, body, lazily=lazily)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore."""
        created = super().put_if_absent(key, body, lazily=lazily)
        if created:
            self._note(key, body, lazily=lazily)
        return created

    def flush(self) -> None:
        """See ObjectStore."""
        with self._lock:
            self._durable |= self._lazy
            self._lazy = {}
            self._states.append(dict(self._durable))

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        super().delete(key)
        with self._lock:
            self._durable.pop(key, None)
            self._lazy.pop(key, None)
            self._states.append(dict(self._durable))

    def after_power_cuts(self, clock: Clock) -> Iterator[MemoryObjects]:
        """The store as it would be after a power cut at each instant since the beginning."""
        for state in self._states:
            left = MemoryObjects(clock)
            for key, body in state.items():
                left.put(key, body)
            yield left

    def _note(self, key: str, body: bytes, *, lazily: bool) -> None:
        with self._lock:
            self._lazy.pop(key, None)
            (self._lazy if lazily else self._durable)[key] = body
            self._states.append(dict(self._durable))

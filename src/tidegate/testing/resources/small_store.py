"""A store of resources that refuses what an API object of Kubernetes should not be: large."""

from collections import Counter
from typing import Any

from tidegate.model.resource import Resource
from tidegate.resources.memory import MemoryStore
from tidegate.resources.writes import Write

LARGEST_RESOURCE = 256 * 1024


class TooLarge(AssertionError):
    """A resource was stored that is larger than it may be."""


class SmallStore(MemoryStore):
    """Resources in memory; counts what each kind was written, in writes and in bytes, and how large it became."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401  # as the store in memory has them
        super().__init__(**given)
        self.writes: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.largest: Counter[str] = Counter()

    def _write(self, write: Write) -> Resource | None:
        answer = super()._write(write)
        if answer is not None:
            size = len(answer.to_json().encode())
            self.writes[answer.kind] += 1
            self.bytes[answer.kind] += size
            self.largest[answer.kind] = max(size, self.largest[answer.kind])
            if size > LARGEST_RESOURCE:
                raise TooLarge(f"{answer.ref} has {size} bytes, more than {LARGEST_RESOURCE}")
        return answer

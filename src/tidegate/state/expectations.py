"""Own writes that the watch has not brought back yet: which news of a resource is older than what we know.

A write's answer is newer than the cache. It goes into the cache at once, so that whoever wrote sees the write; the
watch, which lags behind, then brings older changes of the same resource first. They are passed over until the change
that the write made has come. Versions are opaque, so "older" means only "before the one we expect".
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto

from tidegate.model.resource import Ref


class Verdict(Enum):
    """What to do with the answer of a write."""

    TAKE = auto()
    """It is newer than the cache."""
    KNOWN = auto()
    """The cache has it already, and perhaps more."""
    LOOK = auto()
    """Only the store can say."""


def gone(uid: str) -> str:
    """Stands for the version of a resource that was removed: the change to expect is its DELETED."""
    return f"gone {uid}"


@dataclass
class _Open:
    """What is open about one resource."""

    writes: int = 0
    """Under way."""
    seen: set[str] = field(default_factory=set)
    """Versions that the cache has had since the first of these writes began."""
    listed_meanwhile: bool = False
    """A list came in between: its version of the resource may be newer than the write, and no change will say so."""
    expected: str | None = None
    expected_in: int = 0
    """How many lists had begun when the write was answered."""


class Expectations:
    """The open writes of one kind."""

    def __init__(self) -> None:
        self._open: dict[Ref, _Open] = {}
        self._lists_begun = 0

    def __len__(self) -> int:
        """Resources about which something is open."""
        return len(self._open)

    @contextmanager
    def writing(self, ref: Ref, held: str | None) -> Iterator[None]:
        """Around a write, or a look at one resource; `held` is the version that the cache has now."""
        record = self._open.setdefault(ref, _Open())
        record.writes += 1
        if held is not None:
            record.seen.add(held)
        try:
            yield
        finally:
            record.writes -= 1
            if not record.writes:
                record.seen.clear()
                record.listed_meanwhile = False
            self._close_if_done(ref, record)

    def answered(self, ref: Ref, version: str) -> Verdict:
        """The write was done, and the resource had this version then."""
        record = self._open[ref]
        if version in record.seen:
            return Verdict.KNOWN
        if record.listed_meanwhile or record.expected is not None:
            return Verdict.LOOK
        self._expect(record, version)
        return Verdict.TAKE

    def looked(self, ref: Ref, version: str) -> bool:
        """The store has this version now; whether that is news to the cache."""
        record = self._open[ref]
        if version in record.seen:
            return False
        self._expect(record, version)
        return True

    def heard(self, ref: Ref, version: str) -> bool:
        """The watch brought this change; whether the cache takes it."""
        record = self._open.get(ref)
        if record is None:
            return True
        if record.writes:
            record.seen.add(version)
        if record.expected not in {None, version}:
            return False
        record.expected = None
        self._close_if_done(ref, record)
        return True

    def begin_list(self) -> None:
        """A list of the kind is asked for: what was answered before, it will show."""
        self._lists_begun += 1

    def listed(self, ref: Ref, version: str | None) -> bool:
        """The list shows this version, or none; whether the cache takes that. If not, only the store can say."""
        record = self._open.get(ref)
        if record is None:
            return True
        if record.writes:
            record.listed_meanwhile = True
            if version is not None:
                record.seen.add(version)
        if record.expected not in {None, version} and record.expected_in == self._lists_begun:
            return False
        self.give_up(ref)
        return True

    def give_up(self, ref: Ref) -> None:
        """The cache is as new as the write: nothing more is expected."""
        record = self._open.get(ref)
        if record is not None:
            record.expected = None
            self._close_if_done(ref, record)

    def open_refs(self) -> list[Ref]:
        """Resources about which something is open."""
        return list(self._open)

    def _expect(self, record: _Open, version: str) -> None:
        record.expected, record.expected_in = version, self._lists_begun
        record.seen.add(version)

    def _close_if_done(self, ref: Ref, record: _Open) -> None:
        if not record.writes and record.expected is None and self._open.get(ref) is record:
            del self._open[ref]

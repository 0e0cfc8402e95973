"""Who wanted a namespace first: an index, so that a queue is judged in one pass and not pair by pair."""

from typing import NamedTuple

from tidegate.decide.queue.overlap import Scope


class Claim(NamedTuple):
    """A backup or a restore that runs, or waits ahead, and what it touches."""

    name: str
    scope: Scope
    running: bool
    order: int
    """Claims are made in this order; those that run come first."""
    by_restore: bool = False
    leaving: bool = False
    """Whether it is being deleted, and not yet at an end."""
    patterns: tuple[str, ...] = ()
    """The namespaces and globs that it includes, as they are written; empty means all."""

    @property
    def who(self) -> str:
        """As a person says it."""
        return f"{'restore' if self.by_restore else 'backup'} {self.name}"

    @property
    def state(self) -> str:
        """What it does, after its name."""
        if self.leaving:
            return "is being deleted"
        return "is running" if self.running else "is ahead in the queue"

    @property
    def label(self) -> str:
        """Who, in short, and never the same for two: where backups wait, a plain name is that of a backup."""
        return self.who if self.by_restore else self.name


class RestoreClaim(NamedTuple):
    """A restore that runs or waits, and what it writes to."""

    name: str
    scope: Scope
    running: bool
    leaving: bool = False

    def claim(self, *, order: int) -> Claim:
        """As it stands in the way of others."""
        return Claim(self.name, self.scope, self.running, order, by_restore=True, leaving=self.leaving)


class Claims:
    """All claims so far. Of those that share a name, the first one stands in the way."""

    def __init__(self) -> None:
        self._by_name: dict[str, Claim] = {}
        # The first that wants everything but some names; and, of those names, who was first to want all but others.
        self._everything: Claim | None = None
        self._exceptions: dict[str, Claim] = {}
        # Later claims cannot come before the first one in the way: the answer for a scope never changes once there is
        # one, and equal scopes are common.
        self._answers: dict[Scope, Claim] = {}
        self._claimed: set[Scope] = set()

    def add(self, claim: Claim) -> None:
        """From here on it stands in the way of whoever shares a name."""
        scope = claim.scope
        if scope in self._claimed:
            return
        self._claimed.add(scope)
        if scope.all_but or scope.names:
            self._answers.setdefault(scope, claim)
        if not scope.all_but:
            for name in scope.names:
                self._by_name.setdefault(name, claim)
        elif self._everything is None:
            self._everything = claim
        else:
            for name in self._everything.scope.names - scope.names:
                self._exceptions.setdefault(name, claim)

    def first_in_the_way_of(self, scope: Scope) -> Claim | None:
        """The earliest claim that shares a name; so one that runs, if any does."""
        known = self._answers.get(scope)
        if known is not None:
            return known
        found = self._first_for_all_but(scope.names) if scope.all_but else self._first_for_names(scope.names)
        if found is not None:
            self._answers[scope] = found
        return found

    def _first_for_all_but(self, excepted: frozenset[str]) -> Claim | None:
        # In the order of claims, so at most as many steps as there are exceptions.
        named = next((claim for name, claim in self._by_name.items() if name not in excepted), None)
        return _earlier(named, self._everything)

    def _first_for_names(self, names: frozenset[str]) -> Claim | None:
        found: Claim | None = None
        for name in names:
            found = _earlier(found, _earlier(self._by_name.get(name), self._for_all(name)))
        return found

    def _for_all(self, name: str) -> Claim | None:
        if self._everything is None or name not in self._everything.scope.names:
            return self._everything
        return self._exceptions.get(name)


def _earlier(one: Claim | None, other: Claim | None) -> Claim | None:
    if one is None or other is None:
        return one or other
    return one if one.order < other.order else other

"""Lets transfers through their gates: New -> Accepted and Prepared -> InProgress.

One key for all transfers, because each gate counts all of them.
"""

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Protocol

from tidegate.controllers.reconcile.reconciler import Next, Watch, always
from tidegate.controllers.transfers.gate_writer import GateWriter
from tidegate.decide.transfers.gate_surroundings import GateSurroundings
from tidegate.decide.transfers.gates import plan_accepts, plan_starts
from tidegate.decide.transfers.waits import Held, TransferWaits
from tidegate.model.resource import Ref, Resource
from tidegate.model.setting import Setting
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.node import Node
from tidegate.model.transfers.transfer import TRANSFERS
from tidegate.ports.clock import Clock
from tidegate.state.server_state import ServerState
from tidegate.state.transfers import TransferTable

KEY = Ref("TransferGates", "transfer-gates")
# How often the gates are looked at even if nothing happened: a safety net, not how they move.
_RECHECK = timedelta(seconds=60)
_AT_ONCE = timedelta()
# Up to so many that wait, every new message is written down at once. With more, that would be a write for each of them
# whenever one ends; there only a reason that nobody was told yet is, and the API tells fresh ones.
_SHORT = 20
_MOST_WORDS_AT_ONCE = 500


class Undecided(Protocol):
    """Transfers of another server of which this one does not know yet what becomes of them."""

    async def begin(self) -> None:
        """Return once it is known which ones these are."""
        ...

    def holds(self, transfer: Ref) -> bool:
        """Whether no gate may let it through yet."""
        ...


@dataclass
class TransferGates:
    """Owns the steps out of New and Prepared, unless the transfer is cancelled there, and the label of restores."""

    state: ServerState
    clock: Clock
    takeover: Undecided
    name: str = "transfer-gates"
    workers: int = 1  # check and take are one step: two passes at once could both see the same free slot
    watches: tuple[Watch, ...] = ()
    _passing: bool = False
    _words_checked_at: float = field(default=float("-inf"))

    def __post_init__(self) -> None:
        self.writer = GateWriter(self.state, self.clock)
        self.watches = (
            *(Watch(kind, self._if_it_matters) for kind in TRANSFERS),
            *(Watch(kind, always(KEY)) for kind in (BackupTarget, Node, Setting)),
        )

    async def reconcile(self, _key: Ref) -> Next:
        """Let through what may go, one gate after the other, then tell the rest why they wait."""
        await self.takeover.begin()
        await self.state.wait_for(*TRANSFERS)
        # A write that ended in an error may have been done all the same: see, before anything is given away.
        await self.state.store.settle()
        self._passing = True
        try:
            return await self._pass()
        finally:
            self._passing = False

    async def _pass(self) -> Next:
        self.state.gate_news.begin_pass()
        self.writer.begin()
        table, around = self.state.transfers, await self.state.around_gates()
        await _side_by_side(map(self.writer.take_label, table.labelled_ends()))
        while await self._let_through(table, around):
            pass
        words_left = await self._say_why(table, around)
        again = words_left or self.writer.conflicts or self.state.gate_news
        return Next.after(_AT_ONCE if again else _RECHECK)

    async def _let_through(self, table: TransferTable, around: GateSurroundings) -> bool:
        """Whether anyone went on, so that another look may find more: a start leaves a place to others."""
        written_before = self.writer.written
        starts = [entry for entry in plan_starts(table, around) if not self.takeover.holds(entry.ref)]
        await _side_by_side(map(self.writer.start, starts))
        # Planned only now: a place is free when the one that had it has been seen to move.
        accepts = [one for one in plan_accepts(table, around) if not self.takeover.holds(one.entry.ref)]
        await _side_by_side([self.writer.accept(accepted.entry, accepted.node) for accepted in accepts])
        return self.writer.written > written_before

    def _if_it_matters(self, _changed: Resource) -> Iterable[Ref]:
        """A mover's progress, for one, does not. A pass looks for news by itself when it ends, its own writes apart."""
        return (KEY,) if self.state.gate_news and not self._passing else ()

    async def _say_why(self, table: TransferTable, around: GateSurroundings) -> bool:
        """Whether there is more to say. Words give way to news: a slot that became free does not wait for them."""
        written_before = self.writer.written
        unlabelled = list(islice(table.unlabelled(), _MOST_WORDS_AT_ONCE))
        for entry in unlabelled:
            await self.writer.give_label(entry)
            if self.state.gate_news:
                return True
        # Looked for only now: one that just got its label is another than it was.
        news = list(islice(self._news(table, around), _MOST_WORDS_AT_ONCE))
        for held in news:
            await self.writer.hold(held)
            if self.state.gate_news:
                return True
        full = _MOST_WORDS_AT_ONCE in {len(unlabelled), len(news)}
        return full and self.writer.written > written_before  # what cannot be written is not tried again at once

    def _news(self, table: TransferTable, around: GateSurroundings) -> Iterable[Held]:
        waits = TransferWaits(table, around)
        if table.waiting_count() <= _SHORT:
            return waits.not_told_exactly()
        now = self.clock.monotonic()
        if now - self._words_checked_at < _RECHECK.total_seconds():
            return waits.untold()
        self._words_checked_at = now
        return waits.told_wrong()


async def _side_by_side(writes: Iterable[Awaitable[None]]) -> None:
    """Steps that were decided together share their commits: of five slots that become free none waits for the others.

    All have ended when this does, whatever came of each; then the first error is raised.
    """
    answers = await asyncio.gather(*writes, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer

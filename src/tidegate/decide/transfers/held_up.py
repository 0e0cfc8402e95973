"""Why nothing of a request moves: what the next of its volumes waits for."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tidegate.decide.transfers.entry import TransferEntry
from tidegate.decide.transfers.restore_limit import RESTORES_PAUSED
from tidegate.model.reasons import Reason
from tidegate.model.transfers.transfer import Transfer, TransferPhase

_BEFORE_A_GATE = frozenset({TransferPhase.NEW, TransferPhase.PREPARED})


class HeldUp(NamedTuple):
    """A reason and its words, as a request tells them."""

    reason: Reason
    message: str


def as_written_down(entry: TransferEntry) -> tuple[str, str]:
    """What the transfer itself was told; empty if nothing."""
    return entry.why


def held_up(
    entries: Iterable[TransferEntry], why: Callable[[TransferEntry], tuple[str, str]] = as_written_down
) -> HeldUp | None:
    """As long as nothing of a request moves, it waits for what its next volume waits for; None if something does.

    One that is ready is nearer to moving than one that is New, whoever was asked for first.
    """
    living = [entry for entry in entries if not entry.phase.final]
    if not living or any(entry.phase not in _BEFORE_A_GATE for entry in living):
        return None
    first = min(living, key=lambda entry: (entry.phase is TransferPhase.NEW, entry.place))
    reason, message = why(first)
    if not reason:
        return None
    if reason == Reason.RESTORES_DISABLED:
        return HeldUp(Reason.RESTORES_DISABLED, RESTORES_PAUSED)
    name = "/".join(filter(None, first.volume))
    others = f" ({name}, the next of {len(living)} volumes)" if len(living) > 1 else ""
    return HeldUp(Reason(reason), f"{message}{others}")


def transfers_held_up(transfers: Iterable[Transfer]) -> HeldUp | None:
    """The same, from transfers as they are stored."""
    return held_up(map(TransferEntry.of, transfers))

"""The queue as an answer: the part of it that was asked for, with reasons and expected starts."""

from collections.abc import Sequence
from datetime import datetime

from tidegate.decide.queue.entry import Key, QueueEntry
from tidegate.decide.queue.forecast import Seconds, expected_starts
from tidegate.decide.queue.plan import QueueSnapshot, plan_admissions
from tidegate.errors import InvalidInput
from tidegate.model.queue.queue import Queue, WaitingBackup
from tidegate.model.reasons import Reason
from tidegate.model.setting import Settings
from tidegate.state.backup_figures import BackupFigures

_NOTHING = "nothing is in its way; it starts with the next look"


def queue_page(  # all that an answer is made of
    snapshot: QueueSnapshot,
    entries: Sequence[QueueEntry],
    places: range,
    figures: BackupFigures,
    settings: Settings,
    *,
    moving: Seconds,
    now: datetime,
    marker: str | None,
) -> Queue:
    """`entries` are those at `places`, counted from 0; `marker` asks for what is behind them."""
    limit = settings.concurrent_backups
    why = {one.name: one for one in plan_admissions(snapshot, limit=limit, first=places.stop).wait}
    starts = expected_starts(figures, snapshot, moving, places, limit=limit, now=now)
    rows = []
    for place, entry in zip(places, entries, strict=True):
        waiting, figure = why.get(entry.name), figures.of(entry.name)
        # Every value is our own, and there may be very many.
        row = WaitingBackup.model_construct(
            name=entry.name,
            position=place + 1,
            priority=entry.priority,
            reason=waiting.reason if waiting else Reason.PENDING_EVALUATION,
            message=waiting.message if waiting else _NOTHING,
            blocked_by=waiting.blocked_by if waiting else None,
            since=figure.queued_at if figure else None,
            expected_start=starts.get(place),
        )
        rows.append(row)
    return Queue(
        limit=limit,
        paused=settings.queue_paused,
        running=tuple(runner.name for runner in snapshot.running),
        waiting=tuple(rows),
        waiting_count=len(snapshot.waiting),
        marker=marker,
    )


def marker_of(place: Key) -> str:
    """Asks for what stands behind this place, whoever has left meanwhile."""
    return "/".join(map(str, place))


def place_of(marker: str) -> Key:
    """Where a page begins; raises InvalidInput for what no page ever gave out."""
    parts = marker.split("/")
    try:
        number, ticket, name = int(parts[0]), int(parts[1]), parts[2]
    except (ValueError, IndexError):
        raise InvalidInput(f"{marker!r} is not a marker; take one from an earlier page", field="marker") from None
    return number, ticket, name

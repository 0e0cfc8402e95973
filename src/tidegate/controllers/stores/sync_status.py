"""What a target's status says about its sync, from what a sync says of itself: values in, values out."""

from datetime import datetime

from tidegate.catalogue.progress import SyncProgress
from tidegate.catalogue.target_sync import SyncOutcome
from tidegate.decide.stores.sync_schedule import SyncState, same_message
from tidegate.errors import TidegateError
from tidegate.model.resource import Condition
from tidegate.model.setting import Settings
from tidegate.model.stores.catalogue import FullSync
from tidegate.model.stores.target import CONFIRM_VANISHED, BackupTarget, BackupTargetStatus, SyncStatus
from tidegate.model.transfers.mover_job import TargetAccess

VANISHED = "VolumesVanished"
SYNCED = "Synced"
_MOST_MESSAGES = 5


def state_of(
    target: BackupTarget, settings: Settings, *, last: FullSync | None, forced_at: datetime | None = None
) -> SyncState:
    """What decides when the next sync is due.

    `last` is what the catalogue says of itself.
    `forced_at` is when the last sync ended that somebody had asked for.
    """
    sync, last = target.status.sync, agreed(target, last)
    confirmed = bool(sync.vanished) and target.metadata.annotations.get(CONFIRM_VANISHED) == sync.vanished
    interval = target.spec.poll_interval
    return SyncState(
        available=target.status.available is True and target.identified,
        poll_interval=interval if interval is not None else settings.poll_interval,
        requested_at=target.spec.sync_requested_at,
        confirmed=confirmed,
        synced_at=last.began_at if last is not None else None,
        same_place=last is not None and last.url == target.spec.url and not target.synced_another_store,
        failures=sync.failures,
        failed_at=sync.failed_at,
        failed_here=sync.failed_url in {"", target.spec.url},
        forced_at=forced_at,
        partial=sync.failures > 0 and sync.failed_at == target.status.last_synced_at,
    )


def agreed(target: BackupTarget, last: FullSync | None) -> FullSync | None:
    """Return the last full sync if status and catalogue tell of the same one.

    If not, one of them was lost or set back. Only another sync makes sure that the catalogue holds what the store does.
    """
    return last if last is not None and last.began_at == target.status.last_synced_at else None


def begun_anew(status: BackupTargetStatus) -> BackupTargetStatus:
    """The status of a target whose catalogue is lost: what past syncs left to do is done by the next one."""
    return status.replace(sync=SyncStatus(), last_synced_at=None).without_condition(SYNCED).without_condition(VANISHED)


def running(status: BackupTargetStatus, progress: SyncProgress, now: datetime) -> BackupTargetStatus:
    """While it runs."""
    sync = status.sync.replace(
        stage=str(progress.stage),
        done=progress.done,
        total=progress.total,
        backups=progress.backups,
        errors=progress.errors,
        started_at=progress.started_at,
        expected_end=progress.expected_end(now),
        finished_at=None,
    )
    return status.replace(sync=sync)


def succeeded(
    status: BackupTargetStatus, outcome: SyncOutcome, progress: SyncProgress, *, of: TargetAccess, now: datetime
) -> BackupTargetStatus:
    """It saw the store; what it left out is told, and comes again."""
    partial = outcome.error_count > 0
    held = outcome.held_back
    sync = SyncStatus(
        stage=str(progress.stage),
        done=progress.done,
        total=progress.total,
        backups=progress.backups,
        errors=outcome.error_count,
        messages=(*outcome.errors[:_MOST_MESSAGES], *([outcome.ignored] if outcome.ignored else [])),
        started_at=outcome.started_at,
        finished_at=now,
        url=of.url,
        identity=of.identity,
        failures=status.sync.failures + 1 if partial else 0,
        failed_at=outcome.started_at if partial else None,
        failed_url=of.url if partial else "",
        vanished=held.mark if held else "",
    )
    changed = status.replace(sync=sync, last_synced_at=outcome.started_at)
    changed = changed.with_condition(
        Condition(
            type=SYNCED,
            status="True",
            reason="Partly" if partial else "Complete",
            message=f"{outcome.error_count} things could not be read" if partial else "",
            last_transition_time=now,
        )
    )
    if held is None:
        return changed.without_condition(VANISHED)
    condition = Condition(
        type=VANISHED, status="True", reason="HeldBack", message=held.message, last_transition_time=now
    )
    return changed.with_condition(condition)


def failed(status: BackupTargetStatus, error: Exception, *, url: str, now: datetime) -> BackupTargetStatus:
    """Nothing could be found out; what the catalogue has of the target stays."""
    sentence = error.message if isinstance(error, TidegateError) else f"{type(error).__name__}: {error}"[:300]
    old = status.condition(SYNCED)
    if old is not None and same_message(old.message, sentence):
        sentence = old.message
    sync = status.sync.replace(
        stage="Failed",
        messages=(sentence,),
        expected_end=None,
        finished_at=now,
        failures=status.sync.failures + 1,
        failed_at=now,
        failed_url=url,
    )
    reason = error.code if isinstance(error, TidegateError) else "InternalError"
    condition = Condition(type=SYNCED, status="False", reason=reason, message=sentence, last_transition_time=now)
    return status.replace(sync=sync).with_condition(condition)

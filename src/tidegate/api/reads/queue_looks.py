"""Looking at the queue for an answer: the server's own table where there is one, else what the store lists."""

from collections import Counter, defaultdict
from contextlib import suppress

from tidegate.api.reads.transfers import transfer_table
from tidegate.api.services import Services
from tidegate.decide.queue.figures import BackupFigures
from tidegate.decide.queue.plan import QueueSnapshot, plan_admissions
from tidegate.decide.queue.table import QueueTable, Surroundings
from tidegate.decide.restores.queue import RestoreTable
from tidegate.errors import NotFound
from tidegate.model.backups.backup import Backup
from tidegate.model.job_progress import transfer_progress
from tidegate.model.kinds import KIND_BY_NAME
from tidegate.model.reasons import Reason
from tidegate.model.restores.restore import Restore
from tidegate.model.setting import Settings
from tidegate.model.transfers.transfer import Transfer

# Judging so many takes a few milliseconds.
_JUDGED_AT_ONCE = 1000


async def queue_table(services: Services) -> QueueTable:
    """Every backup that is New, waits or runs."""
    if services.queue is not None:
        return services.queue
    table = QueueTable()
    table.replace_all((await services.store.list(Backup)).items)
    return table


async def backup_figures(services: Services) -> BackupFigures:
    """Backups are the one kind that there may be very many of: where the server keeps count, nothing is read."""
    if services.figures is not None:
        return services.figures
    figures = BackupFigures()
    figures.replace_all((await services.store.list(Backup)).items)
    return figures


async def seconds_left(services: Services) -> dict[str, float]:
    """Of each backup that moves bytes, how long the last of them takes at the present rate."""
    left: dict[str, float] = defaultdict(float)
    for ref in (await transfer_table(services)).uploads():
        with suppress(NotFound):  # it has ended since
            transfer = await services.store.get(KIND_BY_NAME[ref.kind], ref.name)
            if isinstance(transfer, Transfer) and (rest := transfer_progress(transfer).left):
                for owner in transfer.metadata.owner_references:
                    left[owner.name] = max(left[owner.name], rest.total_seconds())
    return left


async def surroundings_now(services: Services) -> tuple[Surroundings, Settings]:
    """What is not in the queue but matters to it."""
    around, settings = await services.around_queue.look(services.store)
    by_volume, paused = around.volumes is not None, settings.concurrent_restores == 0
    claims = (await restore_table(services)).claims(by_volume=by_volume, paused=paused)
    return around.with_restores(claims), settings


async def restore_table(services: Services) -> RestoreTable:
    """Every restore that waits or runs. It is the one that the controllers decide by: only to be looked at."""
    if services.restores is not None:
        return services.restores
    table = RestoreTable()
    table.replace_all((await services.store.list(Restore)).items)
    return table


async def reasons_now(services: Services, table: QueueTable) -> Counter[str]:
    """How many wait for what: as things are, or in a very long queue as it was last written down."""
    if len(table.queued()) > _JUDGED_AT_ONCE:
        # Nobody has told yet why one that has just come waits.
        return table.reasons + Counter({str(Reason.PENDING_EVALUATION): table.reasons[""]})
    snapshot, settings = await queue_now(services, table)
    plan = plan_admissions(snapshot, limit=settings.concurrent_backups)
    return Counter([*(str(one.reason) for one in plan.wait), *(str(Reason.PENDING_EVALUATION) for _ in plan.start)])


async def queue_now(services: Services, table: QueueTable) -> tuple[QueueSnapshot, Settings]:
    """What the next pass would plan from."""
    around, settings = await surroundings_now(services)
    return table.snapshot(around), settings

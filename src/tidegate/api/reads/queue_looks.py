"""Looking at the queue for an answer: the server's own table where there is one, else what the store lists."""

from collections import Counter, defaultdict
from contextlib import suppress

from tidegate.api.services import Services
from tidegate.decide.queue.plan import QueueSnapshot, plan_admissions
from tidegate.decide.queue.surroundings import Surroundings
from tidegate.errors import NotFound
from tidegate.model.job_progress import transfer_progress
from tidegate.model.kinds import KIND_BY_NAME
from tidegate.model.reasons import Reason
from tidegate.model.setting import Settings
from tidegate.model.transfers.transfer import Transfer

# Judging so many takes a few milliseconds.
_JUDGED_AT_ONCE = 1000


async def seconds_left(services: Services) -> dict[str, float]:
    """Of each backup that moves bytes, how long the last of them takes at the present rate."""
    left: dict[str, float] = defaultdict(float)
    for ref in services.state.transfers.uploads():
        with suppress(NotFound):  # it has ended since
            transfer = await services.store.get(KIND_BY_NAME[ref.kind], ref.name)
            if isinstance(transfer, Transfer) and (rest := transfer_progress(transfer).left):
                for owner in transfer.metadata.owner_references:
                    left[owner.name] = max(left[owner.name], rest.total_seconds())
    return left


async def surroundings_now(services: Services) -> tuple[Surroundings, Settings]:
    """What is not in the queue but matters to it."""
    return await services.state.around_queue_with_restores(), await services.state.settings()


async def reasons_now(services: Services) -> Counter[str]:
    """How many wait for what: as things are, or in a very long queue as it was last written down."""
    table = services.state.queue
    if len(table.queued()) > _JUDGED_AT_ONCE:
        # Nobody has told yet why one that has just come waits.
        return table.reasons + Counter({str(Reason.PENDING_EVALUATION): table.reasons[""]})
    snapshot, settings = await queue_now(services)
    plan = plan_admissions(snapshot, limit=settings.concurrent_backups)
    return Counter([*(str(one.reason) for one in plan.wait), *(str(Reason.PENDING_EVALUATION) for _ in plan.start)])


async def queue_now(services: Services) -> tuple[QueueSnapshot, Settings]:
    """What the next pass would plan from."""
    around, settings = await surroundings_now(services)
    return services.state.queue.snapshot(around), settings

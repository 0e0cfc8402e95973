"""Notes down what is to be told to whom. What is noted is delivered by `courier.py`, whatever happens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import structlog

from tidegate.controllers.reconcile.observation import all_of
from tidegate.controllers.reconcile.reconciler import Next, Watch
from tidegate.decide.notifications.news import (
    News,
    Request,
    Run,
    deliveries_of,
    is_bad_end,
    is_good_run,
    news_of_end,
    news_of_schedule,
)
from tidegate.errors import AlreadyExists, NotFound
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.notifications.notification import Notification
from tidegate.model.resource import Ref, Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import SystemRestore
from tidegate.model.verification.verification import Verification
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)


_REQUESTS: dict[str, type[Request]] = {
    "Backup": Backup,
    "Restore": Restore,
    "Verification": Verification,
    "SystemBackup": SystemBackup,
    "SystemRestore": SystemRestore,
}


def _worth_a_look(resource: Resource) -> Iterable[Ref]:
    """A bad end is news by itself. A good one may be, to its schedule: all its runs are looked at together."""
    assert isinstance(resource, Request)  # noqa: S101  # only used on watches of these
    if is_bad_end(resource):
        return (resource.ref,)
    schedule = resource.metadata.labels.get(SCHEDULE_LABEL)
    if schedule and is_good_run(resource):
        return (Ref("Schedule", schedule),)
    return ()


@dataclass
class NotificationWriter:
    """Makes deliveries; owns none of them afterwards."""

    store: ResourceStore
    clock: Clock
    name: str = "notifications"
    workers: int = 2
    watches: tuple[Watch, ...] = (
        *(Watch(kind, _worth_a_look) for kind in _REQUESTS.values()),
        Watch(Schedule),
    )

    async def reconcile(self, key: Ref) -> Next:
        """Note down what is news about one thing."""
        rules = await all_of(self.store, Notification)
        if not rules:
            return Next.done()
        try:
            news = await self._news(key)
        except NotFound:
            return Next.done()
        for delivery in deliveries_of(news, rules, now=self.clock.now()):
            try:
                await self.store.create(delivery)
            except AlreadyExists:
                continue  # noted before
            log.info("noted to be told", notification=delivery.spec.notification, title=delivery.spec.title)
        return Next.done()

    async def _news(self, key: Ref) -> list[News]:
        if key.kind == "Schedule":
            schedule = await self.store.get(Schedule, key.name)
            return news_of_schedule(schedule, await self._runs(schedule))
        end = news_of_end(await self.store.get(_REQUESTS[key.kind], key.name))
        return [end] if end is not None else []

    async def _runs(self, schedule: Schedule) -> Sequence[Run]:
        kind = Backup if schedule.spec.system_backup is None else SystemBackup
        return await all_of(self.store, kind, Selector.matching({SCHEDULE_LABEL: schedule.name}))

"""Delivers what was noted down: at least once, with pauses that grow, and not for ever."""

from dataclasses import dataclass

import structlog

from tidegate.controllers.reconcile.reconciler import Next, Watch
from tidegate.decide.notifications.news import delivered, not_delivered, time_until_due
from tidegate.errors import InvalidInput, NotDelivered, NotFound, StaleVersion
from tidegate.model.notifications.notification import DeliveryPhase, Notification, NotificationDelivery
from tidegate.model.resource import Ref
from tidegate.ports.clock import Clock
from tidegate.ports.notifier import Notice, Notifier
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)


@dataclass
class NotificationCourier:
    """Owns deliveries once they are made, and the status of rules. Nobody else ever waits for a receiver."""

    store: ResourceStore
    clock: Clock
    notifier: Notifier
    name: str = "notification-courier"
    workers: int = 4
    watches: tuple[Watch, ...] = (Watch(NotificationDelivery),)

    async def reconcile(self, key: Ref) -> Next:
        """Try it if it is due, and note what came of it; a record that is old enough goes."""
        try:
            delivery = await self.store.get(NotificationDelivery, key.name)
        except NotFound:
            return Next.done()
        left = time_until_due(delivery, now=self.clock.now())
        if left:
            return Next.after(left)
        if delivery.status.phase.final:
            await self.store.delete(delivery.ref, uid=delivery.metadata.uid)
            return Next.done()
        try:
            rule = await self.store.get(Notification, delivery.spec.notification)
        except NotFound:
            return Next.done()  # it goes with its rule
        after = await self._attempt(rule, delivery)
        await self.store.update_status(after)
        _log_outcome(after)
        await self._tell_rule(rule, after)
        return Next.after(time_until_due(after, now=self.clock.now()))

    async def _attempt(self, rule: Notification, delivery: NotificationDelivery) -> NotificationDelivery:
        try:
            await self.notifier.send(rule.spec, notice_of(delivery))
        except (InvalidInput, NotDelivered) as error:
            return not_delivered(delivery, error.message, now=self.clock.now())
        return delivered(delivery, now=self.clock.now())

    async def _tell_rule(self, rule: Notification, delivery: NotificationDelivery) -> None:
        """For those who look at rules. Somebody else may have told something newer, and that is as well."""
        now, status = self.clock.now(), delivery.status
        try:
            if status.phase is DeliveryPhase.DELIVERED:
                await self.store.update_status(rule.with_status(last_delivered_at=now, last_error=""))
            else:
                await self.store.update_status(rule.with_status(last_failed_at=now, last_error=status.last_error))
        except (StaleVersion, NotFound):
            return


def _log_outcome(delivery: NotificationDelivery) -> None:
    """Once it is written down: whoever reads the log finds the record as it says."""
    spec, status = delivery.spec, delivery.status
    if status.phase is DeliveryPhase.DELIVERED:
        log.info("delivered", notification=spec.notification, title=spec.title)
    else:
        given_up = status.phase is DeliveryPhase.GIVEN_UP
        log.warning("not delivered", notification=spec.notification, why=status.last_error, given_up=given_up)


def notice_of(delivery: NotificationDelivery) -> Notice:
    """What is sent, the same at each attempt."""
    spec = delivery.spec
    return Notice(
        identity=delivery.metadata.uid,
        event=spec.event,
        title=spec.title,
        message=spec.message,
        subject_kind=spec.subject_kind,
        subject_name=spec.subject_name,
        occurred_at=spec.occurred_at,
    )

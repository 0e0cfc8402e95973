"""Notifications: who is told when something went wrong, and what is on its way to them.

An address is a secret: whoever knows it can post in somebody's name. So a rule has only the name of a secret, and no
resource, log or answer ever holds the address itself.
"""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.names import Name
from tidegate.model.resource import Resource, Spec, Status


class NotificationEvent(StrEnum):
    """What somebody can be told of."""

    FAILURE = "Failure"
    """A backup, a restore, a system backup or a system restore did not end well."""
    RECOVERY = "Recovery"
    """A backup or system backup of a schedule ended well, and the one before it did not."""
    MISSED_SCHEDULE = "MissedSchedule"
    """A time of a schedule went by without a backup, and nobody had paused it."""
    VERIFICATION_FAILURE = "VerificationFailure"
    """A backup was found not to restore, or could not be tried."""
    TEST = "Test"
    """Somebody wants to see whether it arrives."""


EVERY_EVENT = tuple(event for event in NotificationEvent if event is not NotificationEvent.TEST)


class NotificationType(StrEnum):
    """How it is sent."""

    WEBHOOK = "webhook"
    """A signed POST of a JSON document."""
    APPRISE = "apprise"
    """Any service that apprise knows; needs the extra `notify`."""


class NotificationSpec(Spec):
    """Who is told of what."""

    type: NotificationType = NotificationType.WEBHOOK
    secret: Name
    """Name of the secret with the address as URL and, for a webhook, the key that it is signed with as SIGNING_KEY."""
    events: tuple[NotificationEvent, ...] = Field(default=EVERY_EVENT, min_length=1)


class NotificationStatus(Status):
    """How the last deliveries went."""

    last_delivered_at: datetime | None = None
    last_failed_at: datetime | None = None
    last_error: str = ""
    """Of the last attempt that failed, if none has succeeded since."""


class Notification(Resource):
    """A rule: who is told of what."""

    plural: ClassVar[str] = "notifications"

    kind: Literal["Notification"] = "Notification"
    spec: NotificationSpec
    status: NotificationStatus = Field(default_factory=NotificationStatus)


class DeliveryPhase(StrEnum):
    """Pending until somebody took it, or until it is too late."""

    PENDING = "Pending"
    DELIVERED = "Delivered"
    GIVEN_UP = "GivenUp"

    @property
    def final(self) -> bool:
        """Whether it is tried no more."""
        return self is not DeliveryPhase.PENDING


class DeliverySpec(Spec):
    """One thing to tell to one receiver."""

    notification: str
    """Name of the rule."""
    event: NotificationEvent
    subject_kind: str
    subject_name: str
    title: str
    message: str = ""
    occurred_at: datetime


class DeliveryStatus(Status):
    """How far it is."""

    phase: DeliveryPhase = DeliveryPhase.PENDING
    attempts: int = 0
    next_attempt_at: datetime | None = None
    delivered_at: datetime | None = None
    ended_at: datetime | None = None
    last_error: str = ""


class NotificationDelivery(Resource):
    """One thing on its way to one receiver. Kept for a while after its end, so that nothing is told twice."""

    plural: ClassVar[str] = "notificationdeliveries"

    kind: Literal["NotificationDelivery"] = "NotificationDelivery"
    spec: DeliverySpec
    status: DeliveryStatus = Field(default_factory=DeliveryStatus)


# On every delivery: the rule that it is for.
NOTIFICATION_LABEL = "tidegate.dev/notification-uid"

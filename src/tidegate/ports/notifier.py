"""The way out to whoever wants to be told."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tidegate.errors import InvalidInput, NotDelivered
from tidegate.model.notifications.notification import NotificationEvent, NotificationSpec


@dataclass(frozen=True)
class Notice:
    """What is told. The same notice sent twice has the same identity, so that a receiver can pass over the second."""

    identity: str
    event: NotificationEvent
    title: str
    message: str
    subject_kind: str
    subject_name: str
    occurred_at: datetime


class Notifier(Protocol):
    """Sends notices. Nothing that it returns or raises ever holds an address, a key or what a receiver answered."""

    async def check(self, spec: NotificationSpec) -> None:
        """Raises InvalidInput with a sentence if nothing could ever be sent: no secret, no address, no key."""
        ...

    async def send(self, spec: NotificationSpec, notice: Notice) -> None:
        """Send it once; returns when the receiver took it. Ends within a minute, whatever the receiver does.

        Raises InvalidInput as `check` does, NotDelivered if it was not taken. It may have arrived all the same.
        """
        ...


class NoNotifier:
    """Sends nothing: for whoever tells nobody."""

    async def check(self, _spec: NotificationSpec) -> None:
        """See Notifier."""
        raise InvalidInput("this server sends no notifications", field="spec")

    async def send(self, _spec: NotificationSpec, _notice: Notice) -> None:
        """See Notifier."""
        raise NotDelivered("this server sends no notifications")

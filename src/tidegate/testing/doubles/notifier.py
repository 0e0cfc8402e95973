"""Receivers that do what the test says."""

from dataclasses import dataclass, field

from tidegate.errors import NotDelivered
from tidegate.model.notifications.notification import NotificationSpec
from tidegate.ports.notifier import Notice


@dataclass
class FakeNotifier:
    """Keeps the promise of Notifier without a network."""

    away: str = ""
    """Why nothing arrives, if so."""
    sent: list[tuple[str, Notice]] = field(default_factory=list)
    """What arrived: the secret that it was sent by, and what it was."""
    attempts: int = 0

    async def check(self, _spec: NotificationSpec) -> None:
        """See Notifier."""

    async def send(self, spec: NotificationSpec, notice: Notice) -> None:
        """See Notifier."""
        self.attempts += 1
        if self.away:
            raise NotDelivered(self.away)
        self.sent.append((spec.secret, notice))

    @property
    def told(self) -> list[str]:
        """What arrived, in words."""
        return [f"{notice.event}: {notice.title}" for _, notice in self.sent]

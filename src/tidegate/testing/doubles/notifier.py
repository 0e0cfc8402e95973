"""Receivers that do what the test says."""

from collections.abc import Collection
from dataclasses import dataclass, field

from tidegate.errors import InvalidInput, NotDelivered
from tidegate.model.notifications.notification import NotificationSpec
from tidegate.ports.notifier import Notice


@dataclass
class FakeNotifier:
    """Keeps the promise of Notifier without a network."""

    secrets: Collection[str] | None = None
    """The secrets that exist; None: whatever a rule names."""
    away: str = ""
    """Why nothing arrives, if so."""
    sent: list[tuple[str, Notice]] = field(default_factory=list)
    """What arrived: the secret that it was sent by, and what it was."""
    attempts: int = 0

    async def check(self, spec: NotificationSpec) -> None:
        """See Notifier."""
        if self.secrets is not None and spec.secret not in self.secrets:
            raise InvalidInput(f"there is no secret {spec.secret}", field="spec.secret")

    async def send(self, spec: NotificationSpec, notice: Notice) -> None:
        """See Notifier."""
        await self.check(spec)
        self.attempts += 1
        if self.away:
            raise NotDelivered(self.away)
        self.sent.append((spec.secret, notice))

    @property
    def told(self) -> list[str]:
        """What arrived, in words."""
        return [f"{notice.event}: {notice.title}" for _, notice in self.sent]

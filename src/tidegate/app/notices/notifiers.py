"""The real way out: reads the secret anew each time, and sends in a thread that can hang without harm."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from tidegate.app.machine.daemon_threads import in_daemon_thread
from tidegate.app.notices.apprise_notices import check_apprise, send_with_apprise
from tidegate.app.notices.webhooks import Webhook
from tidegate.errors import InvalidInput, NotDelivered
from tidegate.model.notifications.notification import NotificationSpec, NotificationType
from tidegate.ports.clock import Clock
from tidegate.ports.notifier import Notice
from tidegate.ports.secrets import SecretStore

T = TypeVar("T")

# Of the whole attempt: a receiver may also answer byte by byte.
_ATTEMPT_SECONDS = 45.0


class RealNotifier:
    """Keeps the promise of Notifier with webhooks and apprise."""

    def __init__(self, secrets: SecretStore, clock: Clock, *, attempt_seconds: float = _ATTEMPT_SECONDS) -> None:
        self._secrets = secrets
        self._clock = clock
        self._attempt_seconds = attempt_seconds

    async def check(self, spec: NotificationSpec) -> None:
        """See Notifier."""
        secret = await self._read(spec)
        if spec.type is NotificationType.WEBHOOK:
            Webhook.of(secret, name=spec.secret)
        else:
            await self._in_time(lambda: check_apprise(secret, name=spec.secret))

    async def send(self, spec: NotificationSpec, notice: Notice) -> None:
        """See Notifier."""
        secret = await self._read(spec)
        if spec.type is NotificationType.WEBHOOK:
            webhook, now = Webhook.of(secret, name=spec.secret), self._clock.now()
            await self._in_time(lambda: webhook.post(notice, now=now))
        else:
            await self._in_time(lambda: send_with_apprise(secret, notice, name=spec.secret))

    async def _read(self, spec: NotificationSpec) -> dict[str, str]:
        try:
            return await self._secrets.read(spec.secret)
        except InvalidInput as error:
            raise InvalidInput(error.message, field="spec.secret", hint=error.hint) from None

    async def _in_time(self, work: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(self._attempt_seconds):
                return await in_daemon_thread(work, name="notify")
        except TimeoutError:
            raise NotDelivered("it was not taken in time") from None
        except (InvalidInput, NotDelivered):
            raise
        except Exception as error:  # noqa: BLE001  # whatever a service's client raises may hold the address
            raise NotDelivered(f"it could not be sent ({type(error).__name__})") from None

"""Notices by way of apprise, which knows a hundred services: an extra that most servers do without."""

import logging

from tidegate.errors import InvalidInput, NotDelivered
from tidegate.model.notifications.notification import NotificationEvent
from tidegate.ports.notifier import Notice

_GOOD_NEWS = frozenset({NotificationEvent.RECOVERY})


def check_apprise(secret: dict[str, str], *, name: str) -> None:
    """Raises InvalidInput if apprise is missing or does not know the address; the sentence does not repeat it."""
    _receiver(secret, name)


def send_with_apprise(secret: dict[str, str], notice: Notice, *, name: str) -> None:
    """Send it once. Raises NotDelivered without the words of the service, which may repeat the address."""
    receiver = _receiver(secret, name)
    kind = "info" if notice.event is NotificationEvent.TEST else "failure"
    if notice.event in _GOOD_NEWS:
        kind = "success"
    if not receiver.notify(body=notice.message or notice.title, title=notice.title, notify_type=kind):
        raise NotDelivered("apprise could not deliver it")


def _receiver(secret: dict[str, str], name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202  # an optional package's
    try:
        import apprise
    except ImportError:
        raise InvalidInput(
            "notifications of type apprise need the extra notify",
            field="spec.type",
            hint="install it on the server: pip install 'tidegate[notify]'",
        ) from None
    # It logs addresses, and warnings that hold them.
    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    receiver = apprise.Apprise()
    if not secret.get("URL") or not receiver.add(secret["URL"]):
        raise InvalidInput(
            f"secret {name} has no URL that apprise knows",
            field="spec.secret",
            hint="write a line URL=... to it, as apprise's documentation has it for the service",
        )
    return receiver

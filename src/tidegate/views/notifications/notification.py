"""Notifications as a table and as a description. There is nothing secret in either: a rule has only a name of it."""

from collections.abc import Sequence

from tidegate.model.notifications.notification import DeliveryPhase, Notification, NotificationDelivery
from tidegate.views.phases import identity_lines
from tidegate.views.reader import Reader
from tidegate.views.table import Cell, Column, Section, TableView, Tone, joined, section, sections

_MOST_DELIVERIES = 20


def _state(rule: Notification) -> Cell:
    status = rule.status
    if status.last_error:
        return Cell("failing", Tone.BAD)
    return Cell("works", Tone.GOOD) if status.last_delivered_at else Cell("not used yet", Tone.WAITING)


NOTIFICATIONS = TableView(
    (Notification,),
    (
        Column("NAME", lambda rule, _: rule.name),
        Column("TYPE", lambda rule, _: str(rule.spec.type)),
        Column("STATE", lambda rule, _: _state(rule)),
        Column("DELIVERED", lambda rule, reader: reader.age(rule.status.last_delivered_at)),
        Column("EVENTS", lambda rule, _: joined(rule.spec.events)),
        Column("AGE", lambda rule, reader: reader.age(rule.metadata.creation_timestamp)),
        Column("SECRET", lambda rule, _: rule.spec.secret, wide=True),
        Column("MESSAGE", lambda rule, _: rule.status.last_error, wide=True),
    ),
)


def describe_notification(
    rule: Notification, deliveries: Sequence[NotificationDelivery], reader: Reader
) -> tuple[Section, ...]:
    """All there is to say about a rule and what it sent."""
    status = rule.status
    newest = sorted(deliveries, key=lambda one: one.spec.occurred_at, reverse=True)[:_MOST_DELIVERIES]
    return sections(
        section("Notification", identity_lines(rule, reader)),
        section(
            "Rule",
            [("Type", str(rule.spec.type)), ("Secret", rule.spec.secret), ("Events", joined(rule.spec.events))],
        ),
        section(
            "State",
            [
                ("State", _state(rule).text),
                ("Delivered", reader.moment_and_age(status.last_delivered_at)),
                ("Failed", reader.moment_and_age(status.last_failed_at)),
                ("Error", status.last_error),
            ],
        ),
        section("Deliveries", [_line(one, reader) for one in newest]),
    )


def _line(delivery: NotificationDelivery, reader: Reader) -> tuple[str, str]:
    spec, status = delivery.spec, delivery.status
    words = f"{status.phase}: {spec.title}"
    if status.phase is DeliveryPhase.PENDING and status.attempts:
        words += f" ({status.attempts} attempts, again in {reader.until(status.next_attempt_at)}: {status.last_error})"
    elif status.phase is DeliveryPhase.GIVEN_UP:
        words += f" ({status.attempts} attempts: {status.last_error})"
    return reader.moment(spec.occurred_at), words

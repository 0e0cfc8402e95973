"""Every implementation of Notifier keeps the same promise."""

from contextlib import contextmanager

import pytest

from tidegate.app.notices.notifiers import RealNotifier
from tidegate.errors import InvalidInput, NotDelivered
from tidegate.model.notifications.notification import NotificationEvent, NotificationSpec
from tidegate.ports.notifier import NoNotifier, Notice, Notifier
from tidegate.testing.clock import BEGINNING, ManualClock
from tidegate.testing.doubles.notifier import FakeNotifier
from tidegate.testing.doubles.secrets import FakeSecrets
from tidegate.testing.machine.webhook_receiver import WebhookReceiver

NOTICE = Notice(
    identity="id-1",
    event=NotificationEvent.FAILURE,
    title="Backup b is Failed",
    message="the disk is broken",
    subject_kind="Backup",
    subject_name="b",
    occurred_at=BEGINNING,
)
KEY = "k" * 16
GOOD = NotificationSpec(secret="ops")
UNKNOWN = NotificationSpec(secret="missing")


class Case:
    """A notifier, what it has delivered, and a way to let its receiver refuse."""

    def __init__(self, notifier, delivered, refuse):
        self.notifier, self.delivered, self.refuse = notifier, delivered, refuse


@contextmanager
def over_the_network():
    with WebhookReceiver() as receiver:
        secrets = FakeSecrets({"ops": {"URL": f"{receiver.url}/{KEY}", "SIGNING_KEY": KEY}})

        def refuse():
            receiver.answers.append((500, b"no"))

        yield Case(RealNotifier(secrets, ManualClock()), lambda: receiver.next().document["id"], refuse)


@contextmanager
def in_memory():
    fake = FakeNotifier(secrets=("ops",))

    def refuse():
        fake.away = "no"

    yield Case(fake, lambda: fake.sent.pop()[1].identity, refuse)


@contextmanager
def with_none():
    yield Case(NoNotifier(), None, lambda: None)


IMPLEMENTATIONS: dict[type[Notifier], object] = {
    RealNotifier: over_the_network,
    FakeNotifier: in_memory,
    NoNotifier: with_none,
}
that_send = pytest.mark.parametrize(
    "case", [kind for kind in IMPLEMENTATIONS if kind is not NoNotifier], indirect=True, ids=lambda kind: kind.__name__
)


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def case(request):
    with IMPLEMENTATIONS[request.param]() as case:
        yield case


@that_send
async def test_a_notice_that_was_sent_has_arrived_with_its_identity(case):
    await case.notifier.check(GOOD)
    await case.notifier.send(GOOD, NOTICE)

    assert case.delivered() == NOTICE.identity


async def test_a_notice_that_was_not_taken_is_an_error_without_address_or_key(case):
    case.refuse()

    with pytest.raises(NotDelivered) as refused:
        await case.notifier.send(GOOD, NOTICE)

    assert not any(word in f"{refused.value!r} {refused.value}" for word in ("http:", KEY, "127.0.0.1"))


async def test_a_rule_that_could_never_send_is_refused(case):
    with pytest.raises(InvalidInput, match=" "):
        await case.notifier.check(UNKNOWN)


@that_send
async def test_sending_by_such_a_rule_is_refused_in_the_same_way(case):
    with pytest.raises(InvalidInput, match=" "):
        await case.notifier.send(UNKNOWN, NOTICE)

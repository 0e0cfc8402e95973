"""Webhooks over TLS: only to who can prove to be the receiver, and without a word about where they went."""

import pytest

from tidegate.app.notices.webhooks import Webhook, signature
from tidegate.errors import InvalidInput, NotDelivered
from tidegate.model.notifications.notification import NotificationEvent
from tidegate.ports.notifier import Notice
from tidegate.testing.clock import BEGINNING
from tidegate.testing.machine.own_authority import own_authority
from tidegate.testing.machine.webhook_receiver import WebhookReceiver

KEY = "0123456789abcdef"
NOTICE = Notice(
    identity="id-1",
    event=NotificationEvent.FAILURE,
    title="Backup b is Failed",
    message="the disk is broken",
    subject_kind="Backup",
    subject_name="b",
    occurred_at=BEGINNING,
)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return own_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def receiver(authority):
    with WebhookReceiver(tls=authority.server) as receiver:
        yield receiver


def webhook(receiver, **more):
    return Webhook.of({"URL": f"{receiver.url}/hook", "SIGNING_KEY": KEY, **more}, name="ops")


def test_a_receiver_whose_authority_is_named_gets_it_signed(receiver, authority):
    webhook(receiver, CA_FILE=str(authority.ca_file)).post(NOTICE, now=BEGINNING)

    got = receiver.next()
    expected = signature(KEY.encode(), "id-1", got.headers["webhook-timestamp"], got.body)
    assert (got.path, got.headers["webhook-signature"]) == ("/hook", expected)


def test_a_receiver_that_nobody_vouches_for_gets_nothing(receiver):
    with pytest.raises(NotDelivered, match=r"^the webhook could not be reached: its certificate is not trusted$"):
        webhook(receiver).post(NOTICE, now=BEGINNING)

    assert receiver.received.empty()


def test_a_certificate_for_another_name_is_not_trusted_either(receiver, authority):
    address = receiver.url.replace("127.0.0.1", "localhost")
    secret = {"URL": address, "SIGNING_KEY": KEY, "CA_FILE": str(authority.ca_file)}
    with pytest.raises(NotDelivered, match="its certificate is not trusted"):
        Webhook.of(secret, name="ops").post(NOTICE, now=BEGINNING)


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), (b"no certificate", "it holds no certificate")])
def test_an_authority_that_cannot_be_read_is_told_when_the_rule_is_made(receiver, tmp_path, content, why):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(InvalidInput, match=f"the CA_FILE that secret ops names cannot be used: {why}"):
        webhook(receiver, CA_FILE=str(path))

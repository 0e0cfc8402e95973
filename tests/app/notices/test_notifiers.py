"""Notices over a real network connection: signed, never too slow, and without a word about where they went."""

import base64
import hashlib
import hmac
import threading

import pytest

from tidegate.app.machine.secret_files import SecretFiles
from tidegate.app.notices.notifiers import RealNotifier
from tidegate.app.notices.webhooks import Webhook
from tidegate.errors import InvalidInput, NotDelivered
from tidegate.model.notifications.notification import NotificationEvent, NotificationSpec, NotificationType
from tidegate.ports.notifier import Notice
from tidegate.testing.clock import BEGINNING, ManualClock
from tidegate.testing.machine.webhook_receiver import WebhookReceiver

TOKEN = "tok3n-that-nobody-may-see"
KEY = base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
SPEC = NotificationSpec(secret="ops")
NOTICE = Notice(
    identity="id-1",
    event=NotificationEvent.FAILURE,
    title="Backup b is Failed",
    message="the disk is broken",
    subject_kind="Backup",
    subject_name="b",
    occurred_at=BEGINNING,
)


@pytest.fixture
def receiver():
    with WebhookReceiver() as receiver:
        yield receiver


@pytest.fixture
def notifier(tmp_path):
    """A function that makes a notifier with this secret."""

    def make(*lines, **wishes):
        (tmp_path / "ops").write_text("\n".join(lines))
        (tmp_path / "ops").chmod(0o600)
        return RealNotifier(SecretFiles(tmp_path), ManualClock(), **wishes)

    return make


def lines_for(receiver, path=f"/hook/{TOKEN}"):
    return f"URL={receiver.url}{path}", f"SIGNING_KEY=whsec_{KEY}"


async def test_the_receiver_can_prove_who_sent_it_and_when(notifier, receiver):
    await notifier(*lines_for(receiver)).send(SPEC, NOTICE)

    got = receiver.next()
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    expected = hmac.new(base64.b64decode(KEY), signed, hashlib.sha256).digest()
    assert got.headers["webhook-signature"] == f"v1,{base64.b64encode(expected).decode()}"
    assert got.headers["webhook-timestamp"] == str(int(BEGINNING.timestamp()))
    assert got.path == f"/hook/{TOKEN}"
    assert got.document == {
        "id": "id-1",
        "event": "Failure",
        "title": "Backup b is Failed",
        "message": "the disk is broken",
        "subject": {"kind": "Backup", "name": "b"},
        "occurredAt": BEGINNING.isoformat(),
    }


async def test_a_user_in_the_address_becomes_a_header(notifier, receiver):
    url = receiver.url.replace("http://", f"http://ops:{TOKEN}@")
    await notifier(f"URL={url}/hook", f"SIGNING_KEY={'k' * 16}").send(SPEC, NOTICE)

    got = receiver.next()
    assert base64.b64decode(got.headers["authorization"].removeprefix("Basic ")).decode() == f"ops:{TOKEN}"
    assert TOKEN not in got.headers["host"]


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 429, 500, 503])
async def test_any_answer_but_success_is_told_by_its_number_only(notifier, receiver, status):
    receiver.answers.append(status)
    receiver.location = f"{receiver.url}/elsewhere/{TOKEN}"

    with pytest.raises(NotDelivered) as told:
        await notifier(*lines_for(receiver)).send(SPEC, NOTICE)

    assert told.value.message == f"the webhook answered {status}"
    assert receiver.next().path == f"/hook/{TOKEN}"
    assert receiver.received.empty()  # no redirect was followed


async def test_a_receiver_that_is_not_there_is_told_without_where(notifier, receiver):
    gone = lines_for(receiver)
    with WebhookReceiver() as other:
        gone = lines_for(other)

    with pytest.raises(NotDelivered, match="could not be reached: Connection refused") as told:
        await notifier(*gone).send(SPEC, NOTICE)
    assert (told.value.__cause__, told.value.__suppress_context__) == (None, True)


async def test_a_receiver_that_never_answers_is_not_waited_for(notifier, receiver):
    receiver.hold = threading.Event()

    with pytest.raises(NotDelivered, match="not taken in time"):
        await notifier(*lines_for(receiver), attempt_seconds=0.2).send(SPEC, NOTICE)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ((), "has no URL"),
        ((f"URL=ftp://example/{TOKEN}", f"SIGNING_KEY={'k' * 16}"), "has no URL"),
        ((f"URL=https://[{TOKEN}", f"SIGNING_KEY={'k' * 16}"), "has no URL"),
        ((f"URL=https://example:99999/{TOKEN}", f"SIGNING_KEY={'k' * 16}"), "has no URL"),
        ((f"URL=https://example/{TOKEN}",), "no usable SIGNING_KEY"),
        ((f"URL=https://example/{TOKEN}", "SIGNING_KEY=short"), "no usable SIGNING_KEY"),
        ((f"URL=https://example/{TOKEN}", "SIGNING_KEY=whsec_!!!"), "no usable SIGNING_KEY"),
    ],
)
async def test_a_secret_that_cannot_work_is_told_without_what_is_in_it(notifier, lines, sentence):
    unusable = notifier(*lines)
    for attempt in (unusable.check(SPEC), unusable.send(SPEC, NOTICE)):
        with pytest.raises(InvalidInput, match=sentence) as told:
            await attempt
        assert told.value.field == "spec.secret"
        assert TOKEN not in f"{told.value.message} {told.value.hint}"


async def test_a_secret_that_is_not_there_is_told_with_what_to_do(notifier):
    with pytest.raises(InvalidInput, match="there is no secret nobody") as told:
        await notifier().check(SPEC.replace(secret="nobody"))
    assert told.value.field == "spec.secret"


def test_what_is_printed_of_a_webhook_shows_nothing_of_it():
    webhook = Webhook.of({"URL": f"https://example/{TOKEN}", "SIGNING_KEY": f"whsec_{KEY}"}, name="ops")

    assert TOKEN not in repr(webhook)
    assert "0123456789abcdef" not in repr(webhook)


# What a service's client warns its own developers of is not ours to mend.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_without_the_extra_apprise_is_refused_with_what_to_install(notifier):
    try:
        import apprise  # noqa: F401
    except ImportError:
        with pytest.raises(InvalidInput, match="need the extra notify"):
            await notifier("URL=json://example").check(SPEC.replace(type=NotificationType.APPRISE))
    else:
        await notifier("URL=json://example").check(SPEC.replace(type=NotificationType.APPRISE))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_apprise_delivers_to_a_real_server_and_says_nothing_of_where(notifier, receiver, capfd):
    pytest.importorskip("apprise")
    spec = SPEC.replace(type=NotificationType.APPRISE)
    address = receiver.url.replace("http://", "json://")
    sender = notifier(f"URL={address}/{TOKEN}")

    await sender.send(spec, NOTICE)
    got = receiver.next().document
    receiver.answers.append(500)
    with pytest.raises(NotDelivered, match="apprise could not deliver it"):
        await sender.send(spec, NOTICE)
    with pytest.raises(InvalidInput, match="has no URL that apprise knows"):
        await notifier(f"URL=nothing://{TOKEN}").check(spec)

    assert (got["title"], got["message"], got["type"]) == ("Backup b is Failed", "the disk is broken", "failure")
    assert TOKEN not in "".join(capfd.readouterr())

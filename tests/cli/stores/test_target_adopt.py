"""`tidegate target adopt`: shows what was expected and what is there, then asks."""

import pytest

from tidegate.model.stores.target import StoreIdentity
from tidegate.testing.resources.builders import a_target

PATH = "/v1/backuptargets/usb"


@pytest.fixture
def usb(server):
    """A target of which the server says this."""

    def put(**status):
        wire = server.put(a_target("usb").with_status(**status))
        server.answers["POST", PATH] = (200, wire)

    return put


def other(found):
    return StoreIdentity(identity="mine", url="file:///somewhere", found=found, adopt="abc123")


@pytest.mark.parametrize(("found", "told"), [("theirs", "Found:    theirs"), ("", "nothing that has an identity")])
def test_it_shows_which_store_was_expected_and_which_is_there_and_adopts_that_one(server, usb, run, found, told):
    usb(available=False, store=other(found))

    done = run("target", "adopt", "usb", "--yes")

    assert (done.code, done.out) == (0, "target/usb\n")
    assert "Expected: mine" in done.err
    assert told in done.err
    assert server.requests[-1][2:] == ({"action": "backupTargetAdopt"}, {"mark": "abc123"})


def test_without_a_yes_nothing_is_adopted(server, usb, run):
    usb(available=False, store=other("theirs"))

    done = run("target", "adopt", "usb")

    assert (done.code, "--yes" in done.err) == (2, True)
    assert [method for method, *_ in server.requests] == ["GET"]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ({"available": True}, "leads to its own store; there is nothing to adopt"),
        ({"available": False, "message": "no route"}, "nobody knows which store is there: no route"),
    ],
)
def test_where_there_is_nothing_to_adopt_it_says_so(server, usb, run, status, why):
    usb(**status)

    done = run("target", "adopt", "usb", "--yes")

    assert (done.code, why in done.err) == (6, True)

"""Work that takes its time, or does not go on: the page says how far it is, and marks what stands still."""

import json
import os

import pytest
from playwright.sync_api import expect

# Of a block of 2 MiB nothing is told before all of it is sent, which takes half a minute at this rate.
CRAWL = "64KiB"
# After three times this a mover is stopped: the mark is there for twice as long as it takes to come.
STALL = "6s"


@pytest.fixture(scope="module")
def slow(server):
    """A volume whose backup takes minutes."""
    server.add_volume("slow", "disk")
    (server.root / "data" / "slow" / "disk" / "noise").write_bytes(os.urandom(8 * 1024 * 1024))
    server.set("limit-upload", CRAWL)
    yield
    server.unset("limit-upload")


@pytest.fixture
def impatient(server):
    """A server that marks who says nothing for seconds, and soon stops them."""
    server.set("data-mover-stall-timeout", STALL)
    yield
    server.unset("data-mover-stall-timeout")


def test_a_mover_that_stands_still_is_marked_in_the_words_of_the_server(visitor, server, slow, impatient):
    page = visitor.open("/running")
    expect(page.locator("main")).to_contain_text("No backup runs.")
    expect(page.get_by_text("live", exact=True)).to_be_visible()

    server.ask_for_backup("stuck", "slow")

    expect(visitor.row("stuck").locator(".bar[data-stalled], .phase[data-tone=warn]").first).to_be_visible()
    expect(visitor.row("stuck")).to_contain_text("stalled")
    expect(visitor.row("stuck")).to_contain_text("slow/disk")
    server.run("backup", "cancel", "stuck", "--yes", "--wait", "--timeout", "60s")  # unless it was stopped before


def test_who_waits_names_the_one_in_its_way_as_a_link_and_says_what_they_share(visitor, server, slow):
    server.ask_for_backup("crawling", "slow")
    server.ask_for_backup("behind", "slow")
    visitor.open("/queue")

    why = visitor.row("behind").locator("td.why")
    expect(why).to_contain_text("NamespaceOverlapRunning")
    expect(why).to_contain_text("crawling is running and shares namespace slow")
    why.get_by_role("link", name="crawling", exact=True).click()

    expect(visitor.page.get_by_role("heading", name="crawling", level=1)).to_be_visible()
    server.tidegate("backup", "cancel", "behind", "crawling", "--yes", "--wait", "--timeout", "60s")


FIVE = [  # name, whether it is being read, done, total
    ("attic", False, 0, 0),
    ("cellar", True, 40, 100),
    ("far", True, 70, 100),
    ("office", False, 0, 0),
    ("usb", False, 0, 0),
]


def test_a_sync_in_progress_tells_how_far_it_is_above_the_table(visitor, server):
    """The server's own answer with five targets in it: no sync is slow enough to be looked at for as long as a test."""
    told = server.look("catalogue/status")
    [usb] = told["targets"]
    told["targets"] = [
        {
            **usb,
            "name": name,
            "lastSyncedAt": "2026-01-05T14:02:00Z",
            "sync": {**usb["sync"], "stage": "ReadingBackups" if reading else "Done", "done": done, "total": total},
        }
        for name, reading, done, total in FIVE
    ]
    body = json.dumps(told)
    visitor.page.route(
        "**/v1/catalogue/status", lambda route: route.fulfill(body=body, content_type="application/json")
    )

    page = visitor.open("/catalogue")

    state = page.get_by_label("Sync state")
    expect(state.get_by_role("heading")).to_contain_text("82 %, 3 of 5 targets, last full")
    expect(state.locator("[data-target=cellar]")).to_contain_text("40 of 100")
    expect(state.get_by_role("progressbar", name="Sync of far")).to_have_attribute("aria-valuenow", "70")
    expect(state.locator("[data-target=usb] [role=progressbar]")).to_have_count(0)

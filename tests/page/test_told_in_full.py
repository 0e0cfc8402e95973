"""Nothing that matters is cut off or led nowhere: names, reasons, sizes, and what became of a restore."""

from functools import partial

import pytest
from playwright.sync_api import expect

from page.visiting import Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path

PHONE = {"width": 390, "height": 844}
# How much of an element's text is cut off, in pixels.
CUT_OFF = "element => element.scrollWidth - element.clientWidth"


def answer_with(answer, route):
    route.fulfill(json=answer)


@pytest.fixture
def phone(browser, quiet_server):
    visitor = Visitor(browser, quiet_server).log_in()
    visitor.page.set_viewport_size(PHONE)
    yield visitor
    visitor.context.close()
    assert visitor.complaints == []


def test_names_in_the_catalogue_can_be_read_on_a_phone(phone):
    page = phone.open("/catalogue")
    names = page.locator("tr[data-row] .name")
    expect(names).to_have_count(2)

    # A filler below the rows must not bring back the columns that are hidden here.
    assert [names.nth(n).evaluate(CUT_OFF) for n in range(2)] == [0, 0]
    table = page.get_by_role("table", name="Volume backups")
    assert table.locator("tbody tr").first.evaluate("row => row.getBoundingClientRect().width") > 300


def test_bytes_rates_and_the_time_left_are_told_on_a_phone(phone):
    """The server's own answer with a transfer in it that moves: none moves for as long as a test looks."""
    [done] = phone.server.look("podvolumebackups?limit=1")["data"]
    progress = {"stage": "uploading", "bytesDone": 1 << 20, "totalBytes": 4 << 20, "bytesPerSecond": 1 << 18}
    status = {**done["status"], "phase": "InProgress", "progress": progress}
    backup = phone.server.look("backups/first")
    running = {**backup, "status": {**backup["status"], "phase": "InProgress"}}
    for plural, row in [("podvolumebackups", {**done, "status": status}), ("backups", running)]:
        answer = {**phone.server.look(f"{plural}?limit=1"), "data": [row], "pagination": {"next": None}}
        phone.page.route(f"**/v1/{plural}?*", partial(answer_with, answer))

    page = phone.open("/running")

    moving = page.locator("[data-row=first] .moving:not(.whole)")
    for words in ("1.0 MiB of 4.0 MiB", "256 KiB/s", "12s left", "uploading on"):
        expect(moving.get_by_text(words)).to_be_visible()
        assert moving.get_by_text(words).evaluate(CUT_OFF) <= 0


def test_a_restore_is_opened_by_its_name_and_says_all_that_went_wrong(visitor, server):
    server.fail_a_restore("onto-others")
    page = visitor.open("/restores")
    expect(visitor.row("onto-others")).to_contain_text("Failed")

    page.get_by_role("link", name="onto-others").click()

    detail = page.get_by_role("region", name="Restore onto-others")
    expect(detail).to_contain_text("shop/db is not empty; use --existing-data overwrite")
    expect(detail.get_by_role("table")).to_contain_text("shop/files")
    expect(detail).to_contain_text("tidegate restore describe onto-others")
    assert page.url.endswith("/restores?open=onto-others")
    detail.get_by_role("button", name="Close").click()
    expect(detail).to_have_count(0)
    assert "shop/db" in server.tidegate("restore", "describe", "onto-others")


def test_a_failed_restore_is_told_on_the_overview(visitor, server):
    server.fail_a_restore("in-vain")

    page = visitor.open("/")

    expect(page.locator(".verdict")).to_contain_text("failed in the last 24 hours")
    expect(page.locator(".verdict")).to_contain_text("restore")


def test_a_target_tells_what_its_store_holds_and_when_it_was_read(phone):
    phone.page.set_viewport_size({"width": 1360, "height": 900})
    phone.open("/targets")

    expect(phone.row("usb")).to_contain_text("2 backups")
    expect(phone.row("usb")).to_contain_text("ago")


def test_a_backup_shows_its_size_and_what_of_it_the_store_holds(phone):
    page = phone.open("/backups/first")

    sizes = page.locator("dl.facts").filter(has_text="New in the store")
    # A thousand lines of 21 bytes in one volume, of 24 bytes in the other.
    expect(sizes).to_contain_text("43.9 KiB")
    expect(sizes).to_contain_text("% of the 43.9 KiB backed up")
    # Two volumes of two blocks of 2 MiB each.
    expect(sizes).to_contain_text("8.0 MiB in whole blocks")

"""The queue: live, with reasons, and changed from here."""

import pytest
from playwright.sync_api import expect

NAMES = ("one", "two", "three", "four")


@pytest.fixture(scope="module")
def mail(server):
    """A volume that shares its namespace with no other."""
    server.add_volume("mail", "inbox")


@pytest.fixture
def paused(server, mail):
    """Three backups that wait, the second for the first."""
    server.pause_queue()
    for name, *namespaces in [("one", "shop", "blog"), ("two", "shop"), ("three", "mail")]:
        server.ask_for_backup(name, *namespaces)
    yield
    for name in NAMES:
        server.api.post(f"/v1/backups/{name}/cancel")
        server.api.delete(f"/v1/backups/{name}")
    server.pause_queue("false")
    server.wait_until_gone(*NAMES)


def expect_order(visitor, *names):
    for position, name in enumerate(names, start=1):
        expect(visitor.row(name)).to_have_attribute("data-position", str(position))
    rows = visitor.page.locator("tr[data-position]")
    expect(rows).to_have_count(len(names))
    for index, name in enumerate(names):
        expect(rows.nth(index)).to_have_attribute("data-row", name)


def test_every_wait_has_its_reason_and_the_limit_can_be_changed_here(visitor, server, paused):
    page = visitor.open("/queue")
    expect(visitor.row("two")).to_have_attribute("data-reason", "Paused")
    expect(page.locator("main")).to_contain_text("The queue is paused")

    page.get_by_label("Backups at once").fill("2")
    page.get_by_role("button", name="Set the limit").click()

    expect(page.locator("main")).to_contain_text("0 of 2 slots taken")
    assert server.look("settings/concurrent-backups")["spec"]["value"] == "2"


def test_the_explanation_names_every_obstacle(visitor, paused):
    page = visitor.open("/queue")
    visitor.row("two").get_by_role("button", name="Why?").click()

    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("NamespaceOverlapQueued")
    expect(dialog).to_contain_text("Paused")
    expect(dialog.get_by_role("link", name="one")).to_be_visible()
    expect(dialog).to_contain_text("tidegate queue explain two")


def test_a_row_is_moved_by_keyboard(visitor, server, paused):
    visitor.open("/queue")
    expect_order(visitor, "one", "two", "three")
    visitor.row("three").focus()
    visitor.page.keyboard.press("Alt+ArrowUp")

    visitor.hears("three is number 2")
    expect_order(visitor, "one", "three", "two")
    assert [row["name"] for row in server.api.get("/v1/queue").json()["waiting"]] == ["one", "three", "two"]


def test_a_row_is_moved_by_dragging(visitor, server, paused):
    visitor.open("/queue")
    expect_order(visitor, "one", "two", "three")

    visitor.row("three").locator("td").first.drag_to(visitor.row("one").locator("td").first)

    visitor.hears("three is number 1")
    expect_order(visitor, "three", "one", "two")
    assert [row["name"] for row in server.api.get("/v1/queue").json()["waiting"]] == ["three", "one", "two"]


def test_an_answer_from_before_a_move_does_not_bring_the_old_order_back(visitor, server, paused):
    page = visitor.open("/queue")
    expect_order(visitor, "one", "two", "three")
    before = server.look("queue")
    address = "**/v1/queue?*"
    held = visitor.hold(address)
    with page.expect_request(address):
        server.ask_for_backup("four", "mail")
    visitor.row("three").focus()
    page.keyboard.press("Alt+ArrowUp")
    visitor.hears("three is number 2")

    with page.expect_request(address):  # it asks again, and is kept waiting
        held.let_one_go(lambda route: route.fulfill(json=before))

    rows = page.locator("tr[data-position]")
    assert rows.evaluate_all("rows => rows.map(row => row.dataset.row)") == ["one", "three", "two"]


def test_a_menu_that_was_opened_before_the_backups_are_known_gets_what_can_be_done_to_them(visitor, paused):
    held = visitor.hold("**/v1/backups?*")
    page = visitor.open("/queue")
    page.get_by_role("button", name="Actions for two", exact=True).click()
    menu = page.get_by_role("dialog")
    expect(menu).to_contain_text("tidegate queue explain two")
    expect(menu.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)

    held.let_one_go()

    expect(menu.get_by_role("button", name="Cancel", exact=True)).to_be_visible()


def test_shared_namespaces_stand_out_also_when_the_backups_come_later(visitor, paused):
    held = visitor.hold("**/v1/backups?*")
    visitor.open("/queue")
    visitor.row("two").hover()
    expect(visitor.row("one").locator(".chips")).to_have_count(0)

    held.let_one_go()

    expect(visitor.row("one").locator(".chip.lit")).to_have_text("shop")


def test_one_that_waits_is_cancelled_and_leaves_at_once(visitor, paused):
    page = visitor.open("/queue")
    visitor.pick("two", "Cancel")
    expect(page.get_by_role("dialog")).to_contain_text("It leaves the queue at once.")
    page.get_by_role("dialog").get_by_role("button", name="Cancel the backup").click()

    expect(visitor.row("two")).to_have_count(0)
    expect_order(visitor, "one", "three")


def test_what_others_do_is_seen_without_a_reload(visitor, server, paused):
    visitor.open("/queue")
    expect_order(visitor, "one", "two", "three")

    server.post("queue/two/move", {"to": 1})
    expect_order(visitor, "two", "one", "three")
    server.pause_queue("false")

    expect(visitor.page.locator("main")).to_contain_text("Nobody waits.")


def test_the_queue_is_paused_and_goes_on_from_here(visitor, server):
    page = visitor.open("/queue")
    page.get_by_role("button", name="Pause the queue").click()
    visitor.hears("The queue is paused")
    expect(page.get_by_role("button", name="Resume the queue")).to_be_visible()
    assert server.look("settings/backup-queue-paused")["spec"]["value"] == "true"

    page.get_by_role("button", name="Resume the queue").click()

    expect(page.get_by_role("button", name="Pause the queue")).to_be_visible()


def test_shared_namespaces_stand_out(visitor, server, paused):
    page = visitor.open("/queue")
    expect_order(visitor, "one", "two", "three")

    visitor.row("two").hover()

    expect(visitor.row("one").locator(".chip.lit")).to_have_text("shop")
    expect(visitor.row("three").locator(".chip.lit")).to_have_count(0)
    expect(page.locator(".timeline")).to_have_count(1)

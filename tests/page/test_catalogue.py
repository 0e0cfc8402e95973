"""The catalogue: found, deleted, gone at once and later from the store; deleted by hand there, gone after the poll."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from page.visiting import Seeded, Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path


@pytest.fixture
def stored(browser, tmp_path):
    """A server of the test's own: two volumes with two backups each, and somebody who looks at them."""
    server = Seeded(tmp_path)
    server.start()
    server.seed()
    server.tidegate("backup", "create", "second", "--include-namespaces", "shop", "--wait")
    server.tidegate("target", "sync", "usb", "--wait")
    visitor = Visitor(browser, server).log_in()
    yield visitor
    visitor.context.close()
    server.api.close()
    server.stop()
    assert visitor.complaints == []


def cfgs(server):
    return {path.name.removeprefix("backup_").removesuffix(".cfg") for path in server.root.rglob("backup_*.cfg")}


def rows_of(server, **query):
    return server.api.get("/v1/catalogue/backups", params=query).json()["data"]


def key(row):
    return f"{row['volumeName']}@{row['backupTargetName']}/{row['name']}"


def table(page):
    return page.locator(".long tbody tr[data-row]")


def wait_for_deletions(server, page):
    expect(page.get_by_label("Deletions", exact=True)).to_contain_text("No deletion under way")


def test_a_deleted_backup_is_gone_at_once_and_later_from_the_store(stored):
    server = stored.server
    page = stored.open("/catalogue")
    expect(table(page)).to_have_count(4)
    chosen = rows_of(server)[0]
    assert chosen["name"] in cfgs(server)

    stored.pick(key(chosen), "Delete")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("No other backup needs it")
    expect(dialog).to_contain_text("Backup second will say that its data was removed.")
    expect(dialog).to_contain_text(
        f"tidegate backup-volume delete {chosen['volumeName']}@usb --backup {chosen['name']}"
    )
    dialog.get_by_role("button", name="Delete the backup").click()

    stored.hears("is gone from the lists")
    expect(stored.row(key(chosen))).to_have_count(0)
    expect(table(page)).to_have_count(3)
    wait_for_deletions(server, page)
    assert chosen["name"] not in cfgs(server)


def test_a_deleted_volume_is_gone_at_once_and_later_from_the_store(stored):
    server = stored.server
    page = stored.open("/catalogue?view=volumes")
    expect(table(page)).to_have_count(2)
    volume = server.look("catalogue/volumes")["data"][0]

    stored.pick(volume["id"], "Delete")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("All of its 2 backups go with it.")
    dialog.get_by_role("button", name="Delete the volume").click()

    expect(stored.row(volume["id"])).to_have_count(0)
    wait_for_deletions(server, page)
    assert len(cfgs(server)) == 2
    assert not [path for path in server.root.rglob(volume["name"]) if "store" in path.parts]


def test_what_is_deleted_by_hand_in_the_store_is_gone_after_the_poll(stored):
    server = stored.server
    target = server.look("backuptargets/usb")
    spec = {**target["spec"], "pollInterval": "1s"}
    metadata = {"name": "usb", "resourceVersion": target["metadata"]["resourceVersion"]}
    assert server.api.put("/v1/backuptargets/usb", json={"metadata": metadata, "spec": spec}).status_code == 200
    page = stored.open("/catalogue")
    expect(table(page)).to_have_count(4)
    chosen = rows_of(server)[0]

    next(server.root.rglob(f"backup_{chosen['name']}.cfg")).unlink()

    expect(stored.row(key(chosen))).to_have_count(0)
    expect(table(page)).to_have_count(3)


def test_facets_narrow_it_down_and_the_address_keeps_it(stored):
    page = stored.open("/catalogue")
    page.get_by_label("Namespace", exact=True).get_by_role("button", name="shop 4").click()
    expect(page).to_have_url(re.compile("namespace=shop"))
    page.get_by_label("Search all stores").fill("files")
    expect(table(page)).to_have_count(2)
    expect(page.locator(".screen-head")).to_contain_text("tidegate catalog search files --namespace shop")

    again = stored.open(page.url)

    expect(table(again)).to_have_count(2)
    again.get_by_role("button", name="Leave out the filter namespace shop").click()
    again.get_by_label("Search all stores").fill("nothing has this name")
    expect(again.locator("main")).to_contain_text("Nothing matches.")
    again.get_by_role("button", name="Show everything").click()
    expect(table(again)).to_have_count(4)


def test_all_that_match_are_pinned_verified_and_deleted(stored):
    server = stored.server
    page = stored.open("/catalogue?search=files")
    group = page.get_by_role("group", name="With all that match")

    group.get_by_role("button", name="Pin…").click()
    page.get_by_role("dialog").get_by_role("button", name="Pin 2 backups").click()
    stored.hears("2 backups are kept")
    assert server.look("backups/second")["metadata"]["labels"]["tidegate.dev/pinned"] == "true"
    group.get_by_role("button", name="Verify…").click()
    page.get_by_role("dialog").get_by_role("button", name="Verify 2 backups").click()
    stored.hears("2 backups are verified")
    assert {one["spec"]["backupName"] for one in server.look("verifications")["data"]} == {"first", "second"}
    server.tidegate("verify", "wait", *[one["metadata"]["name"] for one in server.look("verifications")["data"]])
    group.get_by_role("button", name="Delete all").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 2 backups").click()

    expect(page.locator("main")).to_contain_text("Nothing matches.")
    wait_for_deletions(server, page)
    assert len(cfgs(server)) == 2


def test_one_volume_backup_is_restored_by_its_url(stored):
    server = stored.server
    page = stored.open("/catalogue")
    chosen = next(row for row in rows_of(server) if row["claim"] == "db")
    stored.pick(key(chosen), "Restore")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Put it below this directory").fill(str(server.root / "back"))
    dialog.get_by_role("button", name="Show the plan").click()
    expect(dialog).to_contain_text("1 volume,")
    dialog.get_by_role("button", name="Restore", exact=True).click()
    stored.hears("is on its way")

    stored.open("/restores")

    expect(page.locator('tr[data-phase="Completed"]')).to_be_visible()
    brought = next((server.root / "back").rglob("words.txt"))
    assert brought.read_text() == (server.root / "data" / "shop" / "db" / "words.txt").read_text()


def test_what_somebody_else_wrote_is_found_by_sync_now_and_has_nothing_to_pin(stored):
    """A store that another server filled: known by its catalogue only."""
    server = stored.server
    shutil.copytree(server.root / "store", server.root / "moved")
    server.post("backuptargets", {"metadata": {"name": "moved"}, "spec": {"url": f"file://{server.root}/moved"}})
    page = stored.open("/catalogue?target=moved")
    page.locator('[data-target="moved"]').get_by_role("button", name="Sync now").click()
    stored.hears("moved is looked at.")
    expect(table(page)).to_have_count(4)

    page.get_by_role("group", name="With all that match").get_by_role("button", name="Pin…").click()

    expect(page.get_by_role("dialog")).to_contain_text("4 volume backups were written by nobody")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Volumes").click()
    volume = server.api.get("/v1/catalogue/volumes?target=moved").json()["data"][0]
    stored.pick(volume["id"], "Sync now")
    stored.hears(f"{volume['name']} is looked at in moved.")


def test_a_target_that_is_away_says_since_when_and_what_waits_for_it_can_be_cancelled(stored):
    server = stored.server
    chosen = rows_of(server)[0]
    (server.root / "store").rename(server.root / "away")
    server.tidegate("target", "sync", "usb")
    page = stored.open("/catalogue")
    expect(page.locator('[data-target="usb"]')).to_contain_text("It does not answer, since")
    expect(table(page)).to_have_count(4)

    stored.pick(key(chosen), "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete the backup").click()
    waiting = page.locator(f'[data-deletion="{chosen["volumeName"]}@usb"]')
    expect(waiting).to_have_attribute("data-phase", "Waiting")
    expect(table(page)).to_have_count(3)
    deletion = server.look("deletions")["data"][0]["metadata"]["name"]
    stored.pick(deletion, "Cancel")

    expect(stored.row(key(chosen))).to_be_visible()
    expect(waiting).to_have_count(0)
    (server.root / "away").rename(server.root / "store")


def test_volumes_that_vanished_wait_for_a_confirmation(stored):
    server = stored.server
    for path in (server.root / "store" / "backupstore" / "volumes").iterdir():
        shutil.rmtree(path)
    page = stored.open("/catalogue?view=volumes")
    page.locator('[data-target="usb"]').get_by_role("button", name="Sync now").click()
    held = page.locator('[data-target="usb"]').get_by_role("button", name="They are really gone")
    expect(held).to_be_visible()
    expect(table(page)).to_have_count(2)

    held.click()
    page.get_by_role("dialog").get_by_role("button", name="Forget them").click()

    expect(page.locator("main")).to_contain_text("The stores hold no backup yet")

"""System backups: made, seen step by step, restored from after the plan was read, deleted."""

import shutil

from playwright.sync_api import expect


def steps(page, name):
    return page.get_by_label(f"Steps of {name}", exact=True).locator("li")


def test_one_is_made_and_its_volumes_are_told(visitor, server):
    page = visitor.open("/system")
    page.get_by_role("button", name="Back up the system").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("all-here")
    dialog.get_by_label("Back up first").select_option("if-not-present")
    dialog.get_by_role("button", name="What would happen?").click()
    expect(dialog).to_contain_text("written to target usb")
    expect(dialog).to_contain_text("tidegate system backup create all-here --volume-backup-policy if-not-present")
    dialog.get_by_role("button", name="Back up the system").click()

    expect(visitor.row("all-here")).to_have_attribute("data-phase", "Ready")
    visitor.row("all-here").get_by_role("link").click()
    expect(steps(page, "all-here").last).to_have_attribute("data-state", "done")
    reused = page.locator('[data-volume="shop/db"]')
    expect(reused).to_have_attribute("data-decision", "Reused")
    expect(reused.get_by_role("link", name="first")).to_be_visible()
    assert "backup=all-here" in page.url


def test_volumes_that_wait_are_in_the_opened_step(visitor, server):
    server.pause_queue()
    server.post("systembackups", {"metadata": {"name": "slow"}, "spec": {"volumeBackupPolicy": "always"}})
    page = visitor.open("/system?backup=slow")

    now = page.locator("[aria-current=step]")
    expect(now).to_have_attribute("data-step", "CreatingVolumeBackups")
    waiting = page.locator('[data-volume="blog/www"]')
    expect(waiting).to_have_attribute("data-state", "Waiting")
    expect(waiting).to_contain_text("Created")
    expect(waiting).to_contain_text("at most")
    server.pause_queue("false")

    expect(steps(page, "slow").last).to_have_attribute("data-state", "done")
    expect(waiting).to_have_attribute("data-state", "Completed")


def test_one_whose_name_is_taken_is_told_in_the_form(visitor, server):
    server.tidegate("system", "backup", "create", "taken", "--volume-backup-policy", "disabled", "--wait")
    page = visitor.open("/system")
    page.get_by_role("button", name="Back up the system").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("taken")
    dialog.get_by_role("button", name="Back up the system").click()

    expect(dialog.get_by_role("alert")).to_contain_text("already has a system backup taken")


def test_the_plan_is_shown_before_the_system_is_restored(visitor, server):
    server.tidegate("system", "backup", "create", "before", "--wait")
    server.api.delete("/v1/schedules/nightly")
    lost = server.root / "data" / "shop" / "db"
    words = (lost / "words.txt").read_text()
    shutil.rmtree(lost)
    page = visitor.open("/system")
    visitor.pick("before", "Restore")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Missing ones")).to_be_checked()
    expect(dialog).to_contain_text("--from before --volumes missing --dry-run")
    dialog.get_by_role("button", name="Show the plan").click()
    expect(dialog).to_contain_text("data of 1 volume comes back")
    expect(dialog).to_contain_text("Create Schedule nightly")
    assert server.look("systemrestores")["data"] == []
    dialog.get_by_role("button", name="Restore the system").click()

    restored = page.locator("tr[data-row^=restore-]")
    expect(restored).to_have_attribute("data-phase", "Completed")
    restored.get_by_role("link").click()
    expect(page.locator('[data-volume="shop/db"]')).to_have_attribute("data-state", "Completed")
    assert (lost / "words.txt").read_text() == words
    assert server.api.get("/v1/schedules/nightly").status_code == 200


def test_a_deleted_one_is_gone_at_once_and_later_from_the_store(visitor, server):
    server.tidegate("system", "backup", "create", "short", "--volume-backup-policy", "disabled", "--wait")
    page = visitor.open("/system")
    visitor.pick("short", "Delete")
    expect(page.get_by_role("dialog")).to_contain_text("cannot be brought back")
    page.get_by_role("dialog").get_by_role("button", name="Delete the system backup").click()

    visitor.hears("short is gone from the list")
    expect(visitor.row("short")).to_have_count(0)

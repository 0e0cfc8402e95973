"""Every action does what it says, is seen at once, and is shown as a command that works."""

import json
import re
import shutil
import subprocess
import sys

from playwright.sync_api import expect

from tidegate.format.cfgs.paths import backup_cfg_key

LIMIT = "concurrent-backup-restore-limit"


def test_a_backup_asked_for_here_runs_and_protects_its_volume(visitor, server):
    page = visitor.open("/volumes?q=blog")
    expect(visitor.row("blog/www")).to_have_attribute("data-state", "Never")

    visitor.row("blog/www").get_by_role("button", name="Back up now").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("blog-now")
    dialog.get_by_role("button", name="What would happen?").click()
    expect(dialog).to_contain_text("It would start at once.")
    expect(dialog).to_contain_text("tidegate backup create blog-now --include-namespaces blog")
    dialog.get_by_role("button", name="Back up now").click()

    expect(visitor.row("blog/www")).to_have_attribute("data-state", "Protected")
    server.tidegate("backup", "wait", "blog-now", "--timeout", "60s")


def test_a_mistyped_namespace_is_refused_in_the_form_unless_it_may_be_empty(visitor, server):
    page = visitor.open("/backups")
    page.get_by_role("button", name="Back up now").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("slip")
    dialog.get_by_label("Namespaces").fill("shpo")
    dialog.get_by_role("button", name="Back up now").click()

    expect(dialog.get_by_role("alert")).to_contain_text("did you mean shop?")
    expect(page.locator("[data-pending]")).to_have_count(0)

    dialog.get_by_label("Take it also if no volume matches").check()
    dialog.get_by_role("button", name="Back up now").click()
    expect(visitor.row("slip")).to_have_attribute("data-phase", "Empty")
    expect(visitor.row("slip").get_by_text("Completed, empty")).to_be_visible()
    visitor.row("slip").get_by_role("button", name="Actions for slip").click()
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Restore", exact=True)).to_have_count(0)
    page.keyboard.press("Escape")
    server.tidegate("backup", "delete", "slip", "--yes", "--wait", "--timeout", "60s")


def test_a_volume_without_a_schedule_is_not_called_protected(visitor, server):
    server.tidegate("schedule", "pause", "nightly")
    visitor.open("/volumes")
    expect(visitor.row("shop/db")).to_have_attribute("data-state", "NoSchedule")
    expect(visitor.row("shop/db")).to_contain_text("Backed up once, no schedule")

    page = visitor.open("/")
    expect(page.locator(".verdict")).to_contain_text("backed up once, no schedule")
    expect(page.locator(".verdict")).to_have_attribute("data-tone", re.compile("warn|bad"))

    server.tidegate("schedule", "resume", "nightly")
    visitor.open("/volumes")
    expect(visitor.row("shop/db")).to_have_attribute("data-state", "Protected")


def test_a_schedule_that_no_volume_matches_says_so_when_it_is_added_and_in_its_row(visitor, server):
    page = visitor.open("/schedules")
    page.get_by_role("button", name="Add a schedule").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("vain")
    dialog.get_by_label("Namespaces").fill("shpo")
    dialog.get_by_label("Take it also if no volume matches").check()
    dialog.get_by_role("button", name="Add the schedule").click()

    expect(page.get_by_text("no volume is in namespace shpo (did you mean shop?)")).to_be_visible()
    expect(visitor.row("vain")).to_contain_text("Covers nothing")
    expect(visitor.row("nightly")).not_to_contain_text("Covers nothing")
    server.tidegate("schedule", "delete", "vain", "--yes")


def test_a_target_with_a_broken_backup_says_so(visitor, server):
    broken = server.root / "store" / backup_cfg_key("odd", "torn")
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    server.tidegate("target", "sync", "usb", "--wait")

    visitor.open("/targets")
    expect(visitor.row("usb")).to_contain_text("cannot be read")

    shutil.rmtree(broken.parents[1])
    server.tidegate("target", "sync", "usb", "--wait")


def test_a_name_that_is_taken_is_told_in_the_form_and_leaves_no_row_behind(visitor):
    page = visitor.open("/backups")
    page.get_by_role("button", name="Back up now").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("NOT A NAME")
    dialog.get_by_role("button", name="Back up now").click()

    expect(dialog.get_by_role("alert")).to_contain_text("is not a name")
    expect(page.locator("[data-pending]")).to_have_count(0)


def test_a_deleted_backup_is_gone_at_once_and_later_from_the_store(visitor, server):
    server.tidegate("backup", "create", "short-lived", "--include-namespaces", "shop", "--wait")
    held = len(list((server.root / "store").rglob("backup_*.cfg")))
    page = visitor.open("/backups")

    visitor.pick("short-lived", "Delete")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("cannot be brought back")
    dialog.get_by_role("button", name="Delete the backup").click()

    visitor.hears("short-lived is gone from the list")
    expect(visitor.row("short-lived")).to_have_count(0)
    server.wait_until_gone("short-lived")
    assert len(list((server.root / "store").rglob("backup_*.cfg"))) == held - 2


def test_a_backup_can_be_pinned_and_let_go(visitor, server):
    visitor.open("/backups/first")
    visitor.page.get_by_role("button", name="Pin", exact=True).click()
    expect(visitor.page.get_by_role("button", name="Unpin")).to_be_visible()
    assert server.look("backups/first")["metadata"]["labels"]["tidegate.dev/pinned"] == "true"

    visitor.page.get_by_role("button", name="Unpin").click()

    expect(visitor.page.get_by_role("button", name="Pin", exact=True)).to_be_visible()


def test_the_wizard_brings_the_files_back(visitor, server):
    page = visitor.open("/restores")
    page.get_by_role("button", name="Restore something").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="first", exact=True).click()
    dialog.get_by_label("shop/db").check()
    dialog.get_by_label("Put it below this directory").fill(str(server.root / "back"))
    dialog.get_by_role("button", name="Show the plan").click()
    expect(dialog).to_contain_text("1 volume,")
    dialog.get_by_role("button", name="Restore", exact=True).click()

    expect(page.locator('tr[data-phase="Completed"]')).to_be_visible()
    brought = server.root / "back" / "shop" / "db" / "words.txt"
    assert brought.read_text() == (server.root / "data" / "shop" / "db" / "words.txt").read_text()


def test_the_plan_tells_conflicts_before_anything_is_written(visitor, server):
    before = server.look("restores")["data"]
    page = visitor.open("/backups/first")
    page.get_by_role("button", name="Restore").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Show the plan").click()

    expect(dialog.get_by_label("Conflicts").get_by_role("listitem")).to_have_count(2)
    expect(dialog.get_by_role("button", name="Back", exact=True)).to_be_visible()
    expect(dialog.get_by_role("button", name="Restore", exact=True)).to_have_count(0)
    expect(dialog.locator("footer .primary")).to_have_count(0)
    assert server.look("restores")["data"] == before


def test_what_is_in_the_way_is_overwritten_once_that_is_ticked(visitor):
    page = visitor.open("/backups/first")
    page.get_by_role("button", name="Restore").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Show the plan").click()
    expect(dialog).to_contain_text("let it overwrite")
    dialog.get_by_role("button", name="Back", exact=True).click()
    dialog.get_by_label("Overwrite what is there already").check()
    dialog.get_by_role("button", name="Show the plan").click()

    expect(dialog.get_by_role("button", name="Restore", exact=True)).to_be_enabled()
    expect(dialog.get_by_label("Conflicts")).to_have_count(0)


def test_a_restore_that_waits_says_why_and_is_cancelled(visitor, server):
    server.set(LIMIT, "0")
    spec = {"backupName": "first", "destination": str(server.root / "never")}
    server.post("restores", {"metadata": {"name": "waiting"}, "spec": spec})
    visitor.open("/restores")
    expect(visitor.row("waiting")).to_contain_text("RestoresDisabled")

    visitor.pick("waiting", "Cancel")
    visitor.page.get_by_role("dialog").get_by_role("button", name="Cancel the restore").click()

    expect(visitor.row("waiting")).to_have_attribute("data-phase", "Canceled")
    server.unset(LIMIT)


def test_a_target_that_cannot_be_used_is_refused_with_the_servers_sentence(visitor):
    page = visitor.open("/targets")
    page.get_by_role("button", name="Add a target").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("nowhere")
    dialog.get_by_label("URL or path", exact=True).fill("gopher://x")
    dialog.get_by_role("button", name="Add the target").click()

    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(visitor.row("nowhere")).to_have_count(0)


def test_a_target_that_holds_backups_says_so_before_it_is_forgotten(visitor):
    page = visitor.open("/targets")

    visitor.pick("usb", "Forget")

    expect(page.get_by_role("dialog")).to_contain_text("It cannot go yet: it holds")
    page.get_by_role("dialog").get_by_role("button", name="Forget the target").click()
    visitor.hears("target usb holds")
    expect(visitor.row("usb")).to_be_visible()


def test_a_volume_and_a_target_can_be_added_and_forgotten(visitor, server):
    (server.root / "more").mkdir()
    page = visitor.open("/volumes")
    page.get_by_role("button", name="Add a volume").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Namespace", exact=True).fill("extra")
    dialog.get_by_label("Name", exact=True).fill("more")
    dialog.get_by_label("Path", exact=True).fill(str(server.root / "more"))
    dialog.get_by_role("button", name="Add the volume").click()
    expect(visitor.row("extra/more")).to_be_visible()

    visitor.pick("extra/more", "Forget")
    page.get_by_role("dialog").get_by_role("button", name="Forget the volume").click()

    expect(visitor.row("extra/more")).to_have_count(0)
    visitor.hears("extra/more is no longer backed up.")
    assert server.api.get("/v1/volumes/extra/more").status_code == 404


def test_a_schedule_is_added_paused_run_and_deleted(visitor, server):
    page = visitor.open("/schedules")
    page.get_by_role("button", name="Add a schedule").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("weekly")
    dialog.get_by_label("When (cron)", exact=True).fill("0 3 * * sun")
    expect(dialog).to_contain_text("Runs every Sunday at 03:00.")
    dialog.get_by_label("Namespaces", exact=True).fill("shop")
    dialog.get_by_role("button", name="Add the schedule").click()
    expect(visitor.row("weekly")).to_contain_text("every Sunday at 03:00")
    expect(visitor.row("weekly").locator("[data-next]")).to_have_attribute("data-next", "5")

    visitor.pick("weekly", "Pause")
    expect(visitor.row("weekly")).to_have_attribute("data-state", "Paused")
    visitor.pick("weekly", "Run now")
    expect(visitor.row("weekly").get_by_role("link", name="1", exact=True)).to_be_visible()
    visitor.pick("weekly", "Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete the schedule").click()

    expect(visitor.row("weekly")).to_have_count(0)
    visitor.hears("weekly is gone.")
    assert server.api.get("/v1/schedules/weekly").status_code == 404


def test_a_setting_holds_at_once_and_goes_back_to_its_default(visitor, server):
    visitor.open("/settings")
    row = visitor.row("item-block-worker-count")
    row.get_by_role("textbox").fill("none")
    row.get_by_role("button", name="Save").click()
    visitor.hears("is not a whole number")

    row.get_by_role("textbox").fill("3")
    row.get_by_role("button", name="Save").click()
    expect(row.get_by_role("button", name="Back to default")).to_be_visible()
    visitor.hears("item-block-worker-count is 3 from now on.")
    assert server.look("settings/item-block-worker-count")["spec"]["value"] == "3"
    row.get_by_role("button", name="Back to default").click()

    expect(row.get_by_role("textbox")).to_have_value("1")


def commands_of(visitor, name):
    visitor.page.get_by_role("button", name=f"Actions for {name}", exact=True).click()
    shown = visitor.page.get_by_role("dialog").locator("[data-command]")
    shown.first.wait_for()  # counting waits for nothing
    found = [shown.nth(n).get_attribute("data-command") for n in range(shown.count())]
    visitor.page.keyboard.press("Escape")
    return found


# The real command line, started once for all of them.
RUN_THEM = """
import contextlib, io, json, shlex, sys
from tidegate.app.main import main
failed = {}
for command in json.load(sys.stdin):
    sys.argv = shlex.split(command)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main()
    except SystemExit as end:
        if end.code:
            failed[command] = said.getvalue()
print(json.dumps(failed))
"""


def failures_of(commands, server):
    done = subprocess.run(
        [sys.executable, "-c", RUN_THEM],
        env=server.environment,
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_the_commands_that_are_shown_do_work(visitor, server):
    server.tidegate("backup", "create", "for-commands", "--include-namespaces", "shop", "--wait")
    server.add_volume("scratch", "tmp")
    server.post("schedules", {"metadata": {"name": "yearly"}, "spec": {"schedule": "@yearly", "template": {}}})
    shown = []
    for path in ("/", "/queue", "/restores", "/targets", "/nodes", "/settings", "/backups", "/volumes", "/schedules"):
        visitor.open(path)
        shown.append(visitor.page.locator(".screen-head [data-command]").get_attribute("data-command"))
    visitor.open("/backups")
    restore, *others = commands_of(visitor, "for-commands")
    visitor.open("/volumes")
    back_up, forget = commands_of(visitor, "scratch/tmp")
    visitor.open("/schedules")
    # In an order in which nothing is deleted that something else works with.
    elsewhere = f"{restore.replace('for-commands', 'first')} --to {server.root}/elsewhere"
    server.add_volume("scratch", "kept")
    shown += [*others, forget, back_up, *commands_of(visitor, "yearly"), elsewhere]

    assert len(shown) >= 15
    assert failures_of(shown, server) == {}

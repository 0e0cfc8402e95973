"""One backup: its files, its proof, its chain; the log of what runs; the week of schedules."""

import pytest
from playwright.sync_api import expect

from page.visiting import NIGHT  # type: ignore[import-not-found]  # pytest has tests/ on its path


def open_files(visitor, more=""):
    page = visitor.open(f"/backups/first?volume=shop/files&files=open{more}")
    expect(visitor.page.locator('[data-file="words.txt"]')).to_be_visible()
    return page


@pytest.fixture(scope="module")
def deep(server):
    """A backup of its own with more to look into than one file."""
    data = server.root / "data" / "shop" / "files"
    (data / "deep" / "er").mkdir(parents=True)
    (data / "deep" / "er" / "page.html").write_text("<script>document.title = 'taken'</script>")
    (data / "deep" / "a [1]*.txt").write_text("odd")
    for n in range(250):
        (data / "deep" / f"n-{n:03}").write_text(str(n))
    server.tidegate("backup", "create", "deep", "--include-namespaces", "shop", "--wait")


def test_files_are_looked_into_and_taken_away(visitor, server):
    page = open_files(visitor)
    with page.expect_download() as coming:
        page.get_by_role("link", name="Download words.txt").click()

    expected = (server.root / "data" / "shop" / "files" / "words.txt").read_text()
    assert coming.value.path().read_text() == expected
    assert coming.value.suggested_filename == "words.txt"
    assert page.get_by_role("link", name="Download words.txt").get_attribute("title") == (
        "tidegate backup download first words.txt --volume shop/files"
    )


@pytest.mark.usefixtures("deep")
def test_one_goes_down_and_up_by_keyboard_and_the_address_keeps_the_place(visitor):
    page = visitor.open("/backups/deep?volume=shop/files")
    page.get_by_role("button", name="Browse").click()
    page.get_by_role("button", name="deep/").focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-file]")).to_have_count(200)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator("tr[data-file]")).to_have_count(252)
    page.get_by_role("button", name="er/", exact=True).click()
    expect(page.locator('[data-file="page.html"]')).to_be_visible()
    assert "path=deep%2Fer" in page.url

    visitor.open(page.url)
    expect(page.locator('[data-file="page.html"]')).to_be_visible()
    page.get_by_role("navigation", name="Where in the tree").get_by_role("button", name="deep").click()
    expect(page.locator('[data-file="a [1]*.txt"]')).to_be_visible()


@pytest.mark.usefixtures("deep")
def test_chosen_paths_come_back_and_no_others(visitor, server):
    page = visitor.open("/backups/deep?volume=shop/files&path=deep")
    page.get_by_label("Restore a [1]*.txt").check()
    page.get_by_label("Restore n-007").check()
    page.get_by_role("button", name="Restore what is ticked").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Paths", exact=True).get_by_role("listitem")).to_have_count(2)
    expect(dialog.get_by_role("checkbox", name="shop/files")).to_be_checked()
    expect(dialog).to_contain_text("--include-paths '/deep/a [[]1][*].txt' --include-paths /deep/n-007")
    dialog.get_by_label("Put it below this directory").fill(str(server.root / "some"))
    dialog.get_by_role("button", name="Show the plan").click()
    dialog.get_by_role("button", name="Restore", exact=True).click()
    visitor.hears("is on its way")
    visitor.open("/restores")
    expect(page.locator('tr[data-phase="Completed"]')).to_be_visible()

    back = server.root / "some" / "shop" / "files"
    assert sorted(one.name for one in back.rglob("*") if one.is_file()) == ["a [1]*.txt", "n-007"]


def test_what_cannot_be_read_is_one_sentence(visitor, server):
    page = visitor.open("/backups/first?volume=shop/files&path=nowhere")

    expect(page.get_by_role("alert")).to_contain_text("there is no 'nowhere' in the backup")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def test_the_commands_of_files_do_work(visitor, server):
    shown = server.tidegate("backup", "browse", "first", "--volume", "shop/files")
    assert "words.txt" in shown
    server.tidegate("backup", "download", "first", "words.txt", "--volume", "shop/files", "--to", "taken.txt")
    taken = (server.root / "taken.txt").read_text()
    assert taken == (server.root / "data" / "shop" / "files" / "words.txt").read_text()

    again = server.run("backup", "download", "first", "words.txt", "--volume", "shop/files", "--to", "taken.txt")
    nowhere = server.run("backup", "browse", "first", "nowhere", "--volume", "shop/files")

    assert (again.returncode, "is there already" in again.stderr) == (2, True)
    assert (nowhere.returncode, "there is no 'nowhere'" in nowhere.stderr) == (5, True)


def test_a_backup_is_proven_here(visitor, server):
    page = visitor.open("/backups/first")
    expect(page.locator("main")).to_contain_text("Nobody has proven yet that it restores.")
    page.get_by_role("button", name="Verify now").click()
    visitor.hears("is restored into a scratch place and compared")

    expect(page.locator("main")).to_contain_text("in 2 volumes, every byte read back")
    assert server.look("backups/first")["status"]["verification"]["volumes"] == 2


@pytest.mark.usefixtures("deep")
def test_a_chain_leads_to_the_other_backups_of_a_volume(visitor, server):
    page = visitor.open("/backups/first")
    chain = page.get_by_role("region", name="Chain")
    chain.get_by_label("Volume", exact=True).select_option(label="shop/files")
    expect(chain.locator("li[aria-current]")).to_contain_text("first")

    chain.get_by_role("link", name="deep").click()

    expect(page.get_by_role("heading", name="deep", level=1)).to_be_visible()


def test_what_the_catalogue_learns_later_is_told_without_a_reload(visitor):
    behind = []

    def know_nothing(route):
        behind.append(route)
        route.fulfill(json={"data": []})

    visitor.page.route("**/v1/catalogue/backups?*", know_nothing, times=2)  # of the chain and of the sizes
    page = visitor.open("/backups/first")

    expect(page.get_by_role("region", name="Chain").locator("li[aria-current]")).to_contain_text("first")
    expect(page.locator("dl.facts").filter(has_text="Stored")).to_contain_text("in whole blocks")
    assert len(behind) == 2


def test_the_log_is_live_and_its_place_is_in_the_address(visitor, server):
    server.set("concurrent-backup-restore-limit", "0")
    spec = {"backupName": "first", "destination": str(server.root / "logged")}
    server.post("restores", {"metadata": {"name": "logged"}, "spec": spec})
    page = visitor.open("/running")
    page.get_by_role("button", name="Log of logged").click()
    log = page.get_by_role("log", name="Log of logged")
    expect(log).to_contain_text("Created")
    assert "log=restore" in page.url
    visitor.open(page.url)
    expect(log).to_contain_text("Created")
    expect(page.locator("main")).to_contain_text("tidegate restore logs logged")

    server.post("restores/logged/cancel", {})

    expect(page.locator("main")).to_contain_text("No restore runs.")
    server.unset("concurrent-backup-restore-limit")


def test_schedules_that_pile_up_are_seen(visitor, server):
    template = {"schedule": f"45 {NIGHT} * * *", "systemBackup": {"volumeBackupPolicy": "disabled"}}
    server.post("schedules", {"metadata": {"name": "system"}, "spec": template})
    proof = {"schedule": "@monthly", "template": {}, "verification": {"schedule": f"50 {NIGHT} * * *"}}
    server.post("schedules", {"metadata": {"name": "proven"}, "spec": proof})

    page = visitor.open("/schedules")

    expect(visitor.row("system")).to_contain_text("system backup")
    expect(visitor.row("proven")).to_contain_text("verification")
    busy = page.get_by_label("Where schedules pile up").get_by_role("listitem")
    expect(busy).to_have_count(5)
    expect(busy.first).to_contain_text("nightly")
    expect(busy.first).to_contain_text("system (system backup)")
    expect(busy.first).to_contain_text("proven (verification)")

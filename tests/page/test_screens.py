"""Every screen: complete, accessible, in both colours and on a phone, loading nothing from elsewhere."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from page.visiting import NIGHT, Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path

AXE = Path(__file__).resolve().parents[2] / "ui" / "node_modules" / "axe-core" / "axe.min.js"
# Path, heading, and a word that is there only once data has arrived.
SCREENS = [
    ("/", "Overview", "1 of 3 volumes needs attention."),
    ("/queue", "Queue", "Nobody waits."),
    ("/running", "Running", "No backup runs."),
    ("/backups", "Backups", "Completed"),
    ("/backups/first?volume=shop/files&files=open", "first", "words.txt"),
    ("/catalogue", "Catalogue", "2 backups"),
    ("/catalogue?view=volumes", "Catalogue", "2 volumes"),
    ("/restores", "Restores", "Nothing has been restored yet."),
    ("/volumes", "Volumes", "Never backed up"),
    ("/schedules", "Schedules", f"every day at {NIGHT}:30"),
    ("/system?backup=before-upgrade", "System backups", "No volume had to be backed up"),
    ("/targets", "Targets", "Available"),
    ("/nodes", "Nodes and load", "Ready"),
    ("/settings", "Settings", "concurrent-backups"),
    ("/tokens", "Tokens", "No token yet."),
    ("/tokens?show=users", "Tokens", "No user yet."),
    ("/audit", "Audit", "backuptargets/usb"),
]
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"color_scheme": "light"},
}


@pytest.fixture(scope="module", params=LOOKS)
def looking(request, browser, quiet_server):
    visitor = Visitor(browser, quiet_server, **LOOKS[request.param]).log_in()
    if request.param == "phone":
        visitor.page.set_viewport_size({"width": 390, "height": 844})
    visitor.look = request.param
    yield visitor
    visitor.context.close()


@pytest.fixture
def onlooker(browser, quiet_server):
    visitor = Visitor(browser, quiet_server).log_in()
    yield visitor
    visitor.context.close()
    assert visitor.complaints == []


def serious(visitor):
    """What would keep somebody out. In other colours and sizes only what these change is looked at again."""
    if not AXE.exists():
        pytest.skip("axe is not installed: npm ci in ui/")
    visitor.page.evaluate(AXE.read_text())
    options = "" if visitor.look == "light" else ", runOnly: ['color-contrast', 'scrollable-region-focusable']"
    found = visitor.page.evaluate(f"axe.run(document, {{resultTypes: ['violations']{options}}})")
    return [
        (one["id"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
    ]


@pytest.mark.parametrize(("path", "heading", "word"), SCREENS, ids=[path for path, _, _ in SCREENS])
def test_a_screen_is_complete_and_accessible(looking, path, heading, word):
    page = looking.open(path)

    expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
    expect(page.locator("main")).to_contain_text(word)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    assert serious(looking) == []
    assert looking.complaints == []
    assert looking.hosts == {looking.server.url.split("/")[2]}
    view = "-volumes" if "view=volumes" in path else ""
    looking.keep_picture(f"{heading.lower().replace(' ', '-')}{view}-{looking.look}.png")


def test_an_address_keeps_filter_and_sort(onlooker):
    page = onlooker.open("/volumes")
    page.get_by_role("button", name="Size").click()
    page.get_by_label("Filter volumes").fill("shop")
    expect(page.locator("tbody tr")).to_have_count(2)

    again = onlooker.open(page.url)

    assert "q=shop" in page.url
    assert "sort=-size" in page.url
    expect(again.get_by_label("Filter volumes")).to_have_value("shop")
    expect(again.locator("tbody tr")).to_have_count(2)
    expect(again.get_by_role("columnheader", name="Size")).to_have_attribute("aria-sort", "descending")


def test_links_work_with_the_buttons_of_the_browser(onlooker):
    page = onlooker.open("/backups")
    page.get_by_role("link", name="first").click()
    expect(page.get_by_role("heading", name="first", level=1)).to_be_visible()

    page.go_back()

    expect(page.get_by_role("heading", name="Backups", level=1)).to_be_visible()


def test_a_filter_that_finds_nothing_says_how_to_see_all(onlooker):
    page = onlooker.open("/backups?q=nonsense")

    page.get_by_role("button", name="Show all 1 backup").click()

    expect(onlooker.row("first")).to_be_visible()


def test_colours_can_be_chosen_and_are_remembered(onlooker):
    page = onlooker.open("/")
    page.get_by_role("button", name="Colours: auto").click()
    page.get_by_role("button", name="Colours: light").click()
    page.reload()

    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"

"""A million volume backups: counted, scrolled to any place and searched. `bench page` measures how smoothly."""

import pytest
from playwright.sync_api import expect

from page.visiting import Seeded, Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.testing.stores.many_backups import write_catalogue

VOLUMES, EACH = 10_000, 100
# Whatever is looked at, no more than this is drawn.
FEW = 80


@pytest.fixture(scope="module")
def vast(browser, tmp_path_factory):
    server = Seeded(tmp_path_factory.mktemp("vast"))
    server.state.mkdir(mode=0o700)
    write_catalogue(server.state / "catalogue.sqlite", volumes=VOLUMES, backups=EACH)
    server.start()
    visitor = Visitor(browser, server).log_in()
    yield visitor
    visitor.context.close()
    server.stop()


# One test, because a million rows take a while to be made.
def test_of_a_million_rows_few_are_drawn_and_any_is_found_by_scrolling_and_searching(vast):
    page = vast.open("/catalogue")
    expect(page.locator("main")).to_contain_text("1,000,000 backups")
    rows = page.locator(".long tbody tr[data-row]")
    expect(rows.first).to_be_visible()
    drawn = page.locator(".long tbody tr")
    assert drawn.count() < FEW
    long = page.locator(".long")

    for part in (0.25, 0.75, 0.5):
        long.evaluate("(list, part) => list.scrollTop = (list.scrollHeight - list.clientHeight) * part", part)
        expect(page.locator(f'tr[data-row][aria-rowindex="{int(part * 1_000_000) + 5}"]')).to_be_attached()
        assert drawn.count() < FEW
    long.evaluate("list => list.scrollTop = list.scrollHeight")
    expect(page.locator('tr[data-row][aria-rowindex="1000001"]')).to_be_visible()
    page.get_by_label("Search all stores").fill("data-7777")
    expect(page.locator("main")).to_contain_text("100 backups")
    expect(rows.first).to_contain_text("team-077/data-7777")
    page.get_by_label("Search all stores").fill("")
    page.get_by_label("State", exact=True).get_by_role("button", name="Error").click()
    expect(page.locator("main")).to_contain_text("101 backups")
    page.get_by_role("button", name="Leave out the filter state Error").click()
    page.get_by_label("Label", exact=True).get_by_role("button", name="RecurringJob=nightly").click()
    expect(page.locator("main")).to_contain_text("More than 5,000 backups")

    assert vast.complaints == []

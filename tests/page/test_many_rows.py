"""Ten thousand queued backups: few are drawn, and all that happens to them is told. `bench page` measures it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from page.visiting import Seeded, Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.testing.resources.crowded_queue import write_crowded_queue

MANY = 10_000
GONE = 100


@pytest.fixture(scope="module")
def crowded(browser, tmp_path_factory):
    server = Seeded(tmp_path_factory.mktemp("many"))
    server.state.mkdir(mode=0o700)
    # In a thread of its own: the browser's driver has the loop of this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(write_crowded_queue(server.state / "tidegate.db", MANY))).result()
    server.start()
    visitor = Visitor(browser, server).log_in()
    yield visitor
    visitor.context.close()
    server.stop()


# One test, because ten thousand backups take a while to be made.
def test_of_ten_thousand_rows_few_are_drawn_and_any_is_found_by_scrolling_or_searching_while_others_go(crowded):
    page = crowded.page
    crowded.open("/queue")
    crowded.row("b-00000").wait_for()
    expect(page.locator("nav")).to_contain_text(f"{MANY:,}")
    expect(page.locator(f'.long table[aria-rowcount="{MANY + 1}"]')).to_have_count(1)
    assert page.locator("tr[data-position]").count() < 80

    with crowded.server.client() as api:
        for number in range(GONE):
            assert api.delete(f"/v1/backups/b-{number:05}").status_code == 204
    expect(page.locator("nav")).to_contain_text(f"{MANY - GONE:,}")
    expect(page.locator("main")).to_contain_text(f"Waiting ({MANY - GONE:,})")
    expect(crowded.row(f"b-{GONE:05}")).to_have_attribute("data-position", "1")

    page.locator(".long").evaluate("list => list.scrollTop = list.scrollHeight")
    expect(crowded.row("b-09999")).to_be_visible()
    assert page.locator("tr[data-position]").count() < 80
    page.get_by_label("Filter by name").fill("b-07777")
    expect(crowded.row("b-07777")).to_be_visible()
    expect(page.locator("tr[data-position]")).to_have_count(1)
    assert crowded.complaints == []

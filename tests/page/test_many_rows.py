"""Ten thousand queued backups: the list scrolls, filters and takes in sixty changes a second without freezing.

`pytest -s` shows what was measured (docs/benchmarks.md).
"""

import asyncio
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from page.visiting import Seeded, Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.app.clock import SystemClock
from tidegate.app.identity import new_id
from tidegate.model.backup import BackupPhase
from tidegate.model.resource import Metadata
from tidegate.model.setting import Setting, SettingSpec
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.builders import a_backup, a_target

MANY = 10_000
CHANGES = 240
HEAP = "performance.memory.usedJSHeapSize"
# Watches how long the page stands still between two frames.
WATCH = """() => {
  window.longest = 0;
  let last = performance.now();
  const look = (now) => {
    window.longest = Math.max(window.longest, now - last);
    last = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


async def fill(path):
    """Straight into the database: what is tested is the page, not ten thousand requests."""
    store = await SqliteStore.open(path, clock=SystemClock(), new_id=new_id)
    now = SystemClock().now()
    await store.create(a_target("store", url=f"file://{path.parent}"))
    await store.create(Setting(metadata=Metadata(name="backup-queue-paused"), spec=SettingSpec(value="true")))
    backups = [
        a_backup(f"b-{n:05}", f"ns-{n % 500}", phase=BackupPhase.QUEUED, ticket=n * 1024).with_status(queued_at=now)
        for n in range(MANY)
    ]
    await asyncio.gather(*(store.create(backup) for backup in backups))
    await store.close()


@pytest.fixture(scope="module")
def crowded(browser, tmp_path_factory):
    server = Seeded(tmp_path_factory.mktemp("many"))
    server.state.mkdir(mode=0o700)
    # In a thread of its own: the browser's driver has the loop of this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(fill(server.state / "tidegate.db"))).result()
    server.start()
    visitor = Visitor(browser, server).log_in()
    visitor.page.set_default_timeout(60_000)
    yield visitor
    visitor.context.close()
    server.stop()


# One test, because ten thousand backups take a while to be made.
def test_ten_thousand_rows_are_searched_scrolled_and_take_in_many_changes_without_freezing(crowded):
    # Once before it counts: a server that has just started looks at ten thousand backups itself.
    page = crowded.open("/queue")
    expect(page.locator("main")).to_contain_text("Waiting (10,000)", timeout=60_000)

    began = time.perf_counter()
    page = crowded.open("/queue")
    expect(page.locator("main")).to_contain_text("Waiting (10,000)", timeout=60_000)
    expect(crowded.row("b-00000")).to_be_visible()
    first_load = time.perf_counter() - began
    assert page.locator("tr[data-position]").count() < 80
    everything = page.locator(f'.long table[aria-rowcount="{MANY + 1}"]')
    expect(everything).to_have_count(1, timeout=60_000)  # the last are told after the first are shown
    page.evaluate(WATCH)
    heap = page.evaluate(HEAP)

    began = time.perf_counter()
    with crowded.server.client() as client:
        for n in range(CHANGES):
            assert client.delete(f"/v1/backups/b-{n:05}").status_code == 204
    expect(page.locator("main")).to_contain_text(f"Waiting ({MANY - CHANGES:,})", timeout=60_000)
    seconds = time.perf_counter() - began
    longest, grown = page.evaluate("window.longest"), page.evaluate(HEAP) - heap
    sys.stdout.write(
        f"\n{MANY:,} rows: first ones shown after {first_load:.2f} s, {CHANGES / seconds:.0f} changes a second, "
        f"longest frame {longest:.0f} ms, heap grown by {grown / 1e6:.0f} MB\n"
    )
    assert longest < 500
    assert grown < 100e6

    page.locator(".long").evaluate("list => list.scrollTop = list.scrollHeight")
    expect(crowded.row("b-09999")).to_be_visible()
    page.get_by_label("Filter by name").fill("b-07777")
    expect(crowded.row("b-07777")).to_be_visible()
    expect(page.locator("tr[data-position]")).to_have_count(1)
    assert crowded.complaints == []

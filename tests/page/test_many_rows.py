"""Ten thousand queued backups: the list scrolls, filters and takes in sixty changes a second without freezing.

`pytest -s` shows what was measured (docs/benchmarks.md).
"""

import asyncio
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from page.visiting import Seeded, Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.app.clock import SystemClock
from tidegate.app.identity import new_id
from tidegate.model.backup import BackupPhase
from tidegate.model.reasons import Reason
from tidegate.model.resource import Metadata
from tidegate.model.setting import Setting, SettingSpec
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.builders import a_backup, a_target

MANY = 10_000
CHANGES = 600
# One client alone waits for its answers, and would show its own pace.
HANDS = 8
HEAP = "performance.memory.usedJSHeapSize"
# Watches each frame, and how often the number in the side bar changes.
WATCH = """() => {
  window.frames_seen = [];
  window.drawings = 0;
  new MutationObserver(() => window.drawings++).observe(document.querySelector("nav"), {
    subtree: true, characterData: true, childList: true,
  });
  let last = performance.now();
  const look = (now) => {
    window.frames_seen.push(now - last);
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
    backups = [a_backup(f"b-{n:05}", f"ns-{n % 500}", phase=BackupPhase.QUEUED, ticket=n * 1024) for n in range(MANY)]
    # As the server would have written it: else it would tell them all while it is measured.
    backups = [
        backup.replace(status=backup.status.replace(queued_at=now).waiting(Reason.PAUSED, "paused", since=now))
        for backup in backups
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


def call_off(server, hand):
    """Every eighth of those that go, by a client that costs little: it shares the machine with what is measured."""
    connection = HTTPConnection(urlsplit(server.url).netloc)
    for n in range(hand, CHANGES, HANDS):
        connection.request("DELETE", f"/v1/backups/b-{n:05}", headers={"Authorization": f"Bearer {server.token}"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 204
    connection.close()


def seconds_until(visitor, path, shown):
    began = time.perf_counter()
    visitor.open(path)
    shown()
    return time.perf_counter() - began


# One test, because ten thousand backups take a while to be made.
def test_ten_thousand_rows_are_searched_scrolled_and_take_in_many_changes_without_freezing(crowded):
    page, first_row = crowded.page, lambda: crowded.row("b-00000").wait_for()
    # Once before it counts: a server that has just started looks at ten thousand backups itself.
    seconds_until(crowded, "/queue", first_row)
    expect(page.locator("nav")).to_contain_text("10,000", timeout=60_000)

    overview = seconds_until(crowded, "/", lambda: page.locator(".verdict[data-tone]").wait_for())
    first_rows = seconds_until(crowded, "/queue", first_row)
    assert page.locator("tr[data-position]").count() < 80
    expect(page.locator(f'.long table[aria-rowcount="{MANY + 1}"]')).to_have_count(1)
    expect(page.locator("nav")).to_contain_text("10,000", timeout=60_000)  # the last are told after the first are shown
    page.evaluate(WATCH)
    heap = page.evaluate(HEAP)

    began = time.perf_counter()
    with ThreadPoolExecutor(HANDS) as hands:
        list(hands.map(lambda hand: call_off(crowded.server, hand), range(HANDS)))
    expect(page.locator("nav")).to_contain_text(f"{MANY - CHANGES:,}", timeout=60_000)
    seconds = time.perf_counter() - began
    frames, drawings = page.evaluate("[window.frames_seen.slice(1), window.drawings]")
    grown = page.evaluate(HEAP) - heap
    expect(page.locator("main")).to_contain_text(f"Waiting ({MANY - CHANGES:,})")
    expect(crowded.row(f"b-{CHANGES:05}")).to_have_attribute("data-position", "1")
    sys.stdout.write(
        f"\n{MANY:,} rows: overview after {overview:.2f} s, first rows after {first_rows:.2f} s, "
        f"{CHANGES / seconds:.0f} changes a second in {drawings / seconds:.0f} drawings, "
        f"{1000 * len(frames) / sum(frames):.0f} frames a second, the longest {max(frames):.0f} ms, "
        f"{sum(frame > 100 for frame in frames)} over 100 ms, heap grown by {grown / 1e6:.0f} MB\n"
    )
    # What a page that freezes misses by far, and a busy machine does not.
    assert max(frames) < 500
    assert len(frames) / sum(frames) > 0.01
    assert (overview, first_rows) < (5, 5)
    assert grown < 100e6

    page.locator(".long").evaluate("list => list.scrollTop = list.scrollHeight")
    expect(crowded.row("b-09999")).to_be_visible()
    assert page.locator("tr[data-position]").count() < 80
    page.get_by_label("Filter by name").fill("b-07777")
    expect(crowded.row("b-07777")).to_be_visible()
    expect(page.locator("tr[data-position]")).to_have_count(1)
    assert crowded.complaints == []

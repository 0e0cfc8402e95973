"""A browser in front of ten thousand queued backups, of which many go at once, and of a million in a catalogue."""

import asyncio
import http.client
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from bench.rows import Row
from tidegate.testing.machine.browser import open_browser, why_no_browser
from tidegate.testing.machine.server_process import ServerProcess
from tidegate.testing.resources.crowded_queue import write_crowded_queue
from tidegate.testing.stores.many_backups import write_catalogue

QUEUED = 10_000
GONE = 600
STORED_VOLUMES, BACKUPS_OF_EACH = 10_000, 100
PLACES = 20
# One client alone waits for its answers, and would show its own pace.
CLIENTS = 8
PATIENCE_MILLISECONDS = 60_000
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
# Tasks that keep the page from answering; the browser tells of those beyond 50 ms.
WATCH_TASKS = """() => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
  }).observe({type: 'longtask'});
}"""


def run() -> Sequence[Row]:
    if missing := why_no_browser():
        raise SystemExit(missing)
    return [*_measured(_write_queue, _of_the_queue), *_measured(_write_catalogue, _of_the_catalogue)]


def _write_queue(state: Path) -> None:
    asyncio.run(write_crowded_queue(state / "tidegate.db", QUEUED))


def _write_catalogue(state: Path) -> None:
    write_catalogue(state / "catalogue.sqlite", volumes=STORED_VOLUMES, backups=BACKUPS_OF_EACH)


def _measured(write: Callable[[Path], None], look: Callable[[Page, ServerProcess], Sequence[Row]]) -> Sequence[Row]:
    """What `look` measures on a page of a server that begins with what `write` wrote."""
    with tempfile.TemporaryDirectory() as place:
        server = ServerProcess(Path(place))
        server.state.mkdir(mode=0o700)
        write(server.state)
        server.start()
        try:
            with open_browser() as browser:
                context = browser.new_context(base_url=server.url, viewport={"width": 1360, "height": 900})
                if not context.request.post("/v1/login", data={"token": server.token}).ok:
                    raise RuntimeError("the server does not let its own administrator in")
                page = context.new_page()
                page.set_default_timeout(PATIENCE_MILLISECONDS)
                return look(page, server)
        finally:
            server.stop()


def _of_the_queue(page: Page, server: ServerProcess) -> Sequence[Row]:
    # Once before it counts: a server that has just started looks at ten thousand backups itself.
    _seconds_until(page, "/queue", lambda: page.locator('[data-row="b-00000"]').wait_for())
    _told(page, QUEUED)
    overview = _seconds_until(page, "/", lambda: page.locator(".verdict[data-tone]").wait_for())
    first_rows = _seconds_until(page, "/queue", lambda: page.locator('[data-row="b-00000"]').wait_for())
    _told(page, QUEUED)  # the last are told after the first are shown
    return [
        Row("overview: its sentence, after the address was entered", overview, "s", target=1, better="less"),
        Row("queue: first rows", first_rows, "s", target=1, better="less"),
        *_while_many_go(page, server),
    ]


def _of_the_catalogue(page: Page, _server: ServerProcess) -> Sequence[Row]:
    total = STORED_VOLUMES * BACKUPS_OF_EACH
    rows = page.locator(".long tbody tr[data-row]")
    first_rows = _seconds_until(page, "/catalogue", rows.first.wait_for)
    expect(page.locator("main")).to_contain_text(f"{total:,} backups", timeout=PATIENCE_MILLISECONDS)
    page.evaluate(WATCH_TASKS)
    began = time.perf_counter()
    for place in range(PLACES):
        part = (place * 7 % PLACES) / PLACES
        page.locator(".long").evaluate(
            "(list, part) => list.scrollTop = (list.scrollHeight - list.clientHeight) * part", part
        )
        page.locator(f'tr[data-row][aria-rowindex="{int(part * total) + 5}"]').wait_for(state="attached")
    scrolled = time.perf_counter() - began
    page.get_by_label("Search all stores").fill("data-7777")
    expect(rows.first).to_contain_text("team-077/data-7777", timeout=PATIENCE_MILLISECONDS)
    return [
        Row("catalogue of a million: first rows", first_rows, "s", target=1, better="less"),
        Row("from one place of it to another", scrolled / PLACES * 1000, "ms"),
        Row("longest task of the page meanwhile", page.evaluate("window.longest"), "ms", target=100, better="less"),
    ]


def _while_many_go(page: Page, server: ServerProcess) -> Sequence[Row]:
    headers = {"Authorization": f"Bearer {server.token}"}

    def client(number: int) -> None:
        # One that costs little: it shares the machine with what is measured.
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
        for backup in range(number, GONE, CLIENTS):
            connection.request("DELETE", f"/v1/backups/b-{backup:05}", headers=headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != http.HTTPStatus.NO_CONTENT:
                raise RuntimeError(f"a delete was answered with {answer.status}")
        connection.close()

    page.evaluate(WATCH)
    heap = page.evaluate(HEAP)
    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(client, range(CLIENTS)))
    _told(page, QUEUED - GONE)
    seconds = time.perf_counter() - began
    frames, drawings = page.evaluate("[window.frames_seen.slice(1), window.drawings]")
    return [
        Row("changes that came and were shown", GONE / seconds, "/s", target=60),
        Row("drawings for them", drawings / seconds, "/s"),
        Row("frames meanwhile", 1000 * len(frames) / sum(frames), "/s", target=30),
        Row("longest frame", max(frames), "ms", target=100, better="less"),
        Row("growth of the heap", (page.evaluate(HEAP) - heap) / 1e6, "MB", target=100, better="less"),
    ]


def _told(page: Page, waiting: int) -> None:
    expect(page.locator("nav")).to_contain_text(f"{waiting:,}", timeout=PATIENCE_MILLISECONDS)


def _seconds_until(page: Page, path: str, shown: Callable[[], object]) -> float:
    began = time.perf_counter()
    page.goto(path, wait_until="domcontentloaded")
    shown()
    return time.perf_counter() - began

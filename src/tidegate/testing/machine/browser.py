"""The browser of the tests and of the bench: the chromium of this machine."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import tidegate

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
_BUILT = Path(tidegate.__file__).parent / "page" / "index.html"
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def why_no_browser() -> str:
    """What is missing before the page can be looked at; empty if nothing is."""
    if CHROMIUM is None:
        return "no browser: install chromium, or name one with CHROMIUM"
    return "" if _BUILT.exists() else "the page is not built: make ui"


@contextmanager
def open_browser() -> Iterator[Browser]:
    """While it is open, its driver's event loop runs in this thread, and no other can."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield browser
        browser.close()

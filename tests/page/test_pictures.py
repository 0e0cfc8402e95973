"""The pictures of docs/: a server with work to do, looked at as a person does."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from page.visiting import Seeded, Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path

DOCS = Path(__file__).resolve().parents[2] / "docs"
DESK, PHONE = ({"width": 1360, "height": 900}, "light"), ({"width": 390, "height": 844}, "light")
NIGHT = (DESK[0], "dark")
# Name, window, path, and words that are there once all of it is.
PICTURES = [
    # First: the others then tell when it will end.
    ("running", DESK, "/running", re.compile(r"([4-9]|1\d)\.\d MiB of 64\.0 MiB")),
    ("overview", DESK, "/", "hourly"),
    ("queue", DESK, "/queue", "vms-1 is running and shares namespace vms"),
    ("queue-night", NIGHT, "/queue", "vms-1 is running and shares namespace vms"),
    ("queue-phone", PHONE, "/queue", "vms-1 is running and shares namespace vms"),
    ("backup", DESK, "/backups/first?volume=shop/files&files=open", "Each backup is whole by itself"),
    ("catalogue", DESK, "/catalogue", "Written by"),
    ("system-backups", DESK, "/system?backup=before-upgrade", "No volume had to be backed up"),
]
WAITING = [
    ("mail-before-upgrade", ["mail"]),
    ("evening", ["vms", "shop"]),
    ("shop-only", ["shop"]),
    ("wiki", ["wiki", "vms"]),
    ("everything", []),
]


@pytest.fixture(scope="module")
def at_work(browser, tmp_path_factory):
    server = Seeded(tmp_path_factory.mktemp("at-work"))
    server.start()
    server.seed()
    for namespace, name in [("mail", "inbox"), ("vms", "disk"), ("wiki", "pages"), ("media", "films")]:
        server.add_volume(namespace, name)
    for volume in ("vms/disk", "media/films"):
        (server.root / "data" / volume / "noise").write_bytes(os.urandom(64 << 20))
    spec = {"schedule": "@hourly", "template": {"includedNamespaces": ["shop"]}, "paused": False}
    server.post("schedules", {"metadata": {"name": "hourly"}, "spec": spec})
    made = server.tidegate("schedule", "run-now", "hourly", "-o", "name")
    server.tidegate("backup", "wait", made.strip().partition("/")[2])
    server.tidegate("verify", "create", "first", "--wait")
    server.tidegate("system", "backup", "create", "before-upgrade", "--volume-backup-policy", "disabled", "--wait")
    server.tidegate("setting", "set", "limit-upload", "512KiB")
    server.tidegate("setting", "set", "concurrent-backups", "2")
    server.tidegate("load", "set", "--global", "2")
    names = [("vms-1", ["vms"]), ("media-1", ["media"]), *WAITING]
    for name, namespaces in names:
        server.ask_for_backup(name, *namespaces)
    yield server
    for name, _ in reversed(names):
        server.api.post(f"/v1/backups/{name}/cancel")
    server.api.close()
    server.stop()


@pytest.mark.parametrize("picture", PICTURES, ids=[name for name, *_ in PICTURES])
def test_a_picture_shows_a_server_at_work(browser, at_work, picture):
    name, (size, colours), path, words = picture
    visitor = Visitor(browser, at_work, color_scheme=colours).log_in()
    visitor.page.set_viewport_size(size)

    page = visitor.open(path)

    expect(page.locator("main")).to_contain_text(words)
    expect(page.locator("main")).not_to_contain_text(re.compile("(Asking|asking) "))
    visitor.keep_picture(f"{name}.png")
    visitor.context.close()
    assert visitor.complaints == []


def test_docs_show_no_picture_but_these():
    shown = {name for page in DOCS.glob("*.md") for name in re.findall(r"pictures/([^)]+)\.png", page.read_text())}
    kept = {picture.stem for picture in (DOCS / "pictures").iterdir()}

    assert shown <= kept == {name for name, *_ in PICTURES}

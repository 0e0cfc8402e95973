"""A server with something to see, and a person who looks at it."""

import json
import os
from pathlib import Path

from playwright.sync_api import Route, expect

from tidegate.app.machine.clock import SystemClock
from tidegate.testing.machine.server_process import ServerProcess

# Other tests may keep the machine busy; what never comes still fails.
PATIENCE_MILLISECONDS = 60_000
expect.set_options(timeout=PATIENCE_MILLISECONDS)
# Where pictures are kept; empty: nowhere.
PICTURES = os.environ.get("TIDEGATE_PICTURES")
# Pictures are kept: where the tests ran is nobody's business.
ELSEWHERE = """root => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(root, "/srv");
}"""


# Far from now: nothing of it comes due while somebody looks.
NIGHT = f"{(SystemClock().now().hour + 12) % 24:02}"


class Seeded(ServerProcess):
    """A server with a target, volumes of two applications, and a backup of one of them that ended well."""

    def post(self, path, body):
        answer = self.api.post(f"/v1/{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def seed(self):
        self.api = self.client()
        (self.root / "store").mkdir()
        target = {"url": f"file://{self.root}/store", "default": True}
        self.post("backuptargets", {"metadata": {"name": "usb"}, "spec": target})
        for namespace, name in [("shop", "db"), ("shop", "files"), ("blog", "www")]:
            self.add_volume(namespace, name)
        nightly = {"schedule": f"30 {NIGHT} * * *", "template": {}, "paused": False}
        self.post("schedules", {"metadata": {"name": "nightly"}, "spec": nightly})
        self.tidegate("backup", "create", "first", "--include-namespaces", "shop", "--wait")
        return self

    def add_volume(self, namespace, name):
        data = self.root / "data" / namespace / name
        data.mkdir(parents=True)
        (data / "words.txt").write_text(f"the words of {namespace}/{name}\n" * 1000)
        self.post("volumes", {"metadata": {"name": name, "namespace": namespace}, "spec": {"directory": str(data)}})

    def look(self, path):
        return self.api.get(f"/v1/{path}").json()

    def wait_until_gone(self, *names):
        """By the event stream: whoever is still there is on the way out."""
        version = self.look("backups?limit=1")["resourceVersion"]
        left = {one["metadata"]["name"] for one in self.look("backups")["data"]} & set(names)
        if not left:
            return
        with self.api.stream("GET", f"/v1/events?kinds=backups&since={version}") as stream:
            change = ""
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    change = line.removeprefix("event: ")
                elif line.startswith("data: ") and change == "DELETED":
                    left.discard(json.loads(line.removeprefix("data: "))["metadata"]["name"])
                    if not left:
                        return

    def ask_for_backup(self, name, *namespaces):
        self.post("backups", {"metadata": {"name": name}, "spec": {"includedNamespaces": namespaces}})

    def set(self, name, value):
        answer = self.api.put(f"/v1/settings/{name}", json={"metadata": {"name": name}, "spec": {"value": value}})
        assert answer.status_code == 200, answer.text

    def unset(self, name):
        self.api.delete(f"/v1/settings/{name}")

    def fail_a_restore(self, name):
        """One in whose way something comes after it was taken."""
        limit = "concurrent-backup-restore-limit"
        self.set(limit, "0")
        self.post(
            "restores",
            {"metadata": {"name": name}, "spec": {"backupName": "first", "destination": f"{self.root}/{name}"}},
        )
        for volume in ("db", "files"):
            place = self.root / name / "shop" / volume
            place.mkdir(parents=True)
            (place / "theirs").write_text("precious")
        self.unset(limit)

    def pause_queue(self, paused="true"):
        self.set("backup-queue-paused", paused)


class Held:
    """Requests of a page that get no answer until they are let go, which may be told before they come."""

    def __init__(self, page, address):
        self._waiting = []
        self._told = []
        page.route(address, self._take)

    def let_one_go(self, answer=Route.continue_):
        if self._waiting:
            answer(self._waiting.pop(0))
        else:
            self._told.append(answer)

    def _take(self, route):
        if self._told:
            self._told.pop(0)(route)
        else:
            self._waiting.append(route)


class Visitor:
    """A person with a browser window."""

    def __init__(self, browser, server, **options):
        self.server = server
        self.context = browser.new_context(base_url=server.url, viewport={"width": 1360, "height": 900}, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MILLISECONDS)
        self.complaints = []
        self.hosts = set()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))

    def _hear(self, message):
        # A refused call is told by the page itself; the browser's own line about it is no complaint of ours.
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def log_in(self):
        answer = self.context.request.post("/v1/login", data={"token": self.server.token})
        assert answer.ok
        return self

    def open(self, path):
        self.page.goto(path, wait_until="domcontentloaded")
        self.page.locator("h1").wait_for()
        return self.page

    def keep_picture(self, name):
        if PICTURES:
            self.page.evaluate(ELSEWHERE, str(self.server.root))
            self.page.screenshot(path=Path(PICTURES) / name)

    def row(self, name):
        return self.page.locator(f'[data-row="{name}"]')

    def hears(self, words):
        """What the server agreed to: rows change before that."""
        expect(self.page.get_by_role("status").last).to_contain_text(words)

    def hold(self, address):
        """Keep requests there waiting."""
        return Held(self.page, address)

    def pick(self, name, label):
        """Choose an action from the menu of a row."""
        self.page.get_by_role("button", name=f"Actions for {name}", exact=True).click()
        self.page.get_by_role("dialog").get_by_role("button", name=label, exact=True).click()

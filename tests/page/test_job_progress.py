"""How far a running backup is: on its own page, in the queue, and as a line in the plot."""

import os
import re

import pytest
from playwright.sync_api import expect

MOVED = 48 * 1024 * 1024
BELOW_100 = re.compile(r"^[1-9]?\d$")


@pytest.fixture(scope="module")
def paced(server):
    """A volume that was backed up once and has changed since."""
    server.add_volume("paced", "disk")
    noise = server.root / "data" / "paced" / "disk" / "noise"
    noise.write_bytes(os.urandom(MOVED))
    server.tidegate("backup", "create", "paced-before", "--include-namespaces", "paced", "--wait")
    noise.write_bytes(os.urandom(MOVED))
    server.set("limit-upload", "2MiB")
    yield
    server.unset("limit-upload")


# Whether the line of the plot leaves the ground: a dot of its colour in the upper half.
DRAWN = """() => {
  const canvas = document.querySelector(".plot canvas");
  if (!canvas) return false;
  const colour = getComputedStyle(document.querySelector(".legend .key"), "::before").borderTopColor;
  const [r, g, b] = colour.match(/\\d+/g).map(Number);
  const dots = canvas.getContext("2d").getImageData(0, 0, canvas.width, Math.floor(canvas.height / 2)).data;
  for (let at = 0; at < dots.length; at += 4) {
    const far = Math.abs(dots[at] - r) + Math.abs(dots[at + 1] - g) + Math.abs(dots[at + 2] - b);
    if (far < 40 && dots[at + 3] > 200) return true;
  }
  return false;
}"""


def test_a_running_backup_tells_percent_bytes_and_time_left_of_the_whole_on_its_own_page(visitor, server, paced):
    server.ask_for_backup("going", "paced")

    page = visitor.open("/backups/going")
    whole = page.locator("[data-progress=going]").first
    expect(whole).to_contain_text("MiB")
    expect(whole).to_contain_text("/s")
    expect(whole).to_contain_text("left")
    expect(whole.get_by_role("progressbar")).to_have_attribute("aria-valuenow", BELOW_100)
    bytes_now = server.look("backups/going")["status"]["bytes"]
    assert bytes_now["total"] >= MOVED
    assert bytes_now["percent"] <= 99
    visitor.open("/queue")
    expect(visitor.row("going").get_by_role("progressbar")).to_have_attribute("aria-valuenow", BELOW_100)
    server.tidegate("backup", "cancel", "going", "--yes", "--wait", "--timeout", "60s")


def test_the_plot_shows_an_upload_as_soon_as_it_is_looked_at(visitor, server, paced):
    """It stayed empty at first, and what an upload had only looked at dwarfed what others sent."""
    server.ask_for_backup("plotted", "paced")
    page = visitor.open("/running")
    expect(page.locator("[data-progress=plotted]")).to_contain_text("/s")

    page.reload()
    expect(page.locator(".legend .key").first).to_contain_text("/s")
    page.wait_for_function(DRAWN)
    server.tidegate("backup", "cancel", "plotted", "--yes", "--wait", "--timeout", "60s")

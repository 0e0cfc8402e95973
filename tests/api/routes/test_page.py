"""The server hands out the page under a strict policy, and the API keeps its own answers."""

import pytest

from tidegate.api.page_files import PageFiles, read_page
from tidegate.api.routes.page import NO_PAGE, POLICY

HTML = {"Accept": "text/html,*/*"}


@pytest.fixture
def built(tmp_path, services):
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>Tidegate</title>")
    (tmp_path / "assets" / "main-abc.js").write_text("start()")
    (tmp_path / "notes.txt").write_text("not a part of the page")
    services.page = read_page(tmp_path)


@pytest.mark.parametrize("path", ["/", "/queue", "/backups/nightly.2", "/volumes/shop/db?sort=age", "/index.html"])
async def test_every_screen_begins_with_the_same_file_which_is_asked_for_each_time(api, built, path):
    answer = await api.get(path, headers=HTML)

    assert (answer.status_code, answer.text) == (200, "<title>Tidegate</title>")
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["cache-control"] == "no-cache"


async def test_a_file_with_a_hash_in_its_name_is_kept_for_ever(api, built):
    answer = await api.get("/assets/main-abc.js")

    assert answer.text == "start()"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["/assets/gone.js", "/notes.txt", "/v1/nothing"])
async def test_what_is_not_there_is_not_found_also_for_a_browser(api, built, path):
    answer = await api.get(path, headers={"Accept": "text/html" if path.startswith(("/assets", "/v1")) else "*/*"})

    assert answer.status_code == 404
    assert answer.json()["code"] == "NotFound"


async def test_the_api_still_says_which_methods_it_has(api, built):
    answer = await api.get("/v1/queue/x/move", headers=HTML)

    assert answer.status_code == 405


async def test_without_a_build_the_server_says_in_one_line_how_to_get_the_page(api):
    answer = await api.get("/", headers=HTML)

    assert (answer.status_code, answer.text) == (404, NO_PAGE)
    assert NO_PAGE.count("\n") == 1


def test_a_directory_without_a_page_is_an_empty_page(tmp_path):
    assert read_page(tmp_path / "missing") == PageFiles()

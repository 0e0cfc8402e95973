"""A server that goes away and comes back: a banner, then everything as it is now."""

from urllib.parse import urlsplit

from playwright.sync_api import expect

from page.visiting import Seeded, Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path


def test_a_page_tells_that_the_server_is_gone_and_comes_back_by_itself(browser, tmp_path):
    server = Seeded(tmp_path)
    server.start()
    server.seed()
    address = urlsplit(server.url).netloc
    visitor = Visitor(browser, server).log_in()
    page = visitor.open("/backups")
    expect(visitor.row("first")).to_be_visible()

    server.api.close()
    server.kill()
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer; what you see is from")
    expect(visitor.row("first")).to_be_visible()
    server.start("--listen", address)
    server.tidegate("backup", "create", "after", "--include-namespaces", "blog", "--wait")

    expect(page.get_by_role("alert")).to_have_count(0)
    expect(visitor.row("after")).to_have_attribute("data-phase", "Completed")
    assert [one for one in visitor.complaints if "ERR_" not in one] == []
    visitor.context.close()
    server.stop()

"""A real browser in front of a real server with real backups."""

import pytest

from page.visiting import Seeded, Visitor  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.testing.machine.browser import open_browser, why_no_browser


# Not for the whole session: while it lives, its driver's event loop runs in this thread, and no async test could.
@pytest.fixture(scope="module")
def browser():
    if missing := why_no_browser():
        pytest.skip(missing)
    with open_browser() as browser:
        yield browser


def seeded(directory):
    server = Seeded(directory)
    server.start()
    server.seed()
    yield server
    server.api.close()
    server.stop()


@pytest.fixture(scope="module")
def server(browser, tmp_path_factory):
    """One for all who change something: each works on names of its own."""
    yield from seeded(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def quiet_server(browser, tmp_path_factory):
    """One that nobody changes: screens are looked at as they were seeded."""
    for server in seeded(tmp_path_factory.mktemp("quiet")):
        server.tidegate("system", "backup", "create", "before-upgrade", "--volume-backup-policy", "disabled", "--wait")
        yield server


@pytest.fixture
def visitor(browser, server):
    visitor = Visitor(browser, server).log_in()
    yield visitor
    visitor.context.close()
    assert visitor.complaints == []


@pytest.fixture
def stranger(browser, server):
    """Somebody who has not logged in."""
    visitor = Visitor(browser, server)
    yield visitor
    visitor.context.close()

"""A real server process in a temporary directory, and the real command line."""

import pytest

from tidegate.testing.machine.server_process import ServerProcess


@pytest.fixture
def idle_server(tmp_path):
    """A server that the test starts by itself."""
    server = ServerProcess(tmp_path)
    yield server
    if server.process is not None:
        server.stop()


@pytest.fixture
def server(idle_server):
    return idle_server.start()

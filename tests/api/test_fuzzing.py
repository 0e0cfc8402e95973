"""Whatever a client sends within or outside the schema, a server answers as its document says, and never hits a bug."""

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tidegate.api.application import build_application
from tidegate.api.services import Services
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.doubles.store_probe import FakeStoreProbe
from tidegate.testing.doubles.volume_probe import FakeVolumeProbe
from tidegate.testing.identity import counting_ids
from tidegate.testing.machine.server_process import ServerProcess
from tidegate.testing.resources.a_state import a_state

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
# The same cases in every run: a test that fails today fails tomorrow.
BOUNDED = settings(
    max_examples=8, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
FEW = settings(BOUNDED, max_examples=3)
# One server, and the calls in their order.
pytestmark = pytest.mark.xdist_group("fuzzing")


def application(*, shutting_down=False):
    clock = ManualClock()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    services = Services(
        a_state(store, clock),
        clock,
        FakeVolumeProbe(),
        FakeStoreProbe(),
        token_is_good=lambda token: token == "t",
        version="1",
    )
    if shutting_down:
        services.shutting_down.set()
    return build_application(services)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A real server with something of most kinds."""
    root = tmp_path_factory.mktemp("fuzzed")
    server = ServerProcess(root).start()
    (root / "store").mkdir()
    (root / "docs").mkdir()
    (root / "docs" / "file").write_text("x")
    server.tidegate("target", "create", "disk", str(root / "store"))
    server.tidegate("volume", "create", "home/docs", "--directory", str(root / "docs"))
    server.tidegate("backup", "create", "b", "--wait")
    server.tidegate("restore", "create", "r", "--from-backup", "b", "--to", str(root / "back"), "--wait")
    server.tidegate("verify", "create", "b", "--name", "v", "--wait")
    server.tidegate("schedule", "create", "s", "--schedule", "0 3 * * *", "--paused")
    server.tidegate("token", "create", "t", "--role", "viewer")
    server.tidegate("system", "backup", "create", "sb", "--wait")
    yield server
    server.stop()


# Its answer never ends, unless the server is on its way out.
STREAM = "/v1/events"


@pytest.fixture(scope="module")
def described(server):
    with server.client() as client:
        return schemathesis.openapi.from_dict(client.get("/openapi.json").json())


@pytest.fixture(scope="module")
def described_stream():
    return schemathesis.openapi.from_asgi("/openapi.json", application(shutting_down=True))


# One test for all calls: pytest gives tests of the same function the same id, and xdist runs one of them then.
schema = schemathesis.pytest.from_fixture("described").exclude(path=STREAM)
stream = schemathesis.pytest.from_fixture("described_stream").include(path=STREAM)
looks = schema.include(method="GET")
EXISTING = {"name": "b", "namespace": "home", "identity": "x", "target": "disk", "volume": "docs", "count": 3}
NAME_BY_KIND = {
    "namespaces": "home",
    "volumes": "docs",
    "restores": "r",
    "verifications": "v",
    "schedules": "s",
    "backuptargets": "disk",
    "systembackups": "sb",
    "settings": "concurrent-backups",
    "nodes": "local",
}


def called(case, server):
    headers = {"Authorization": f"Bearer {server.token}"}
    return case.call(base_url=server.url, headers=headers, timeout=60)


@looks.parametrize()
@FEW
def test_looks_at_what_exists_are_answered_as_the_document_says(case, server):
    kind = case.path.split("/")[2] if case.path.count("/") > 2 else ""
    case.path_parameters = {
        key: NAME_BY_KIND.get(kind, "b") if key == "name" else EXISTING.get(key, value)
        for key, value in (case.path_parameters or {}).items()
    }

    case.validate_response(called(case, server), checks=CHECKS)


@schema.parametrize()
@BOUNDED
def test_no_request_makes_the_server_fail_and_every_answer_is_in_the_document(case, server):
    case.validate_response(called(case, server), checks=CHECKS)


@stream.parametrize()
@BOUNDED
def test_the_event_stream_answers_as_the_document_says(case):
    response = case.call(headers={"Authorization": "Bearer t"})

    case.validate_response(response, checks=CHECKS)

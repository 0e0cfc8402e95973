"""Whatever a client sends within or outside the schema, the server never hits a bug."""

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error

from tidegate.api.application import build_application
from tidegate.api.services import Services
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids


class Scenery:
    async def check_volume(self, spec):
        return 1

    async def check_target(self, access):
        return None


def application():
    clock = ManualClock()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    return build_application(Services(store, clock, Scenery(), token_is_good=lambda token: token == "t", version="1"))


# The event stream never ends, so it has tests of its own.
schema = schemathesis.openapi.from_asgi("/openapi.json", application()).exclude(path="/v1/events")


@schema.parametrize()
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_makes_the_server_fail(case):
    response = case.call(headers={"Authorization": "Bearer t"})

    case.validate_response(response, checks=[not_a_server_error])

"""The application over memory, called without a network."""

import httpx2
import pytest

from tidegate.api.application import build_application
from tidegate.api.services import Services
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.doubles.hooks import FakeHooks
from tidegate.testing.doubles.store_probe import FakeStoreProbe
from tidegate.testing.doubles.volume_probe import FakeVolumeProbe
from tidegate.testing.identity import counting_ids
from tidegate.testing.machine.documented import DocumentedTransport
from tidegate.testing.resources.a_state import running_state


@pytest.fixture
def volume_probe():
    return FakeVolumeProbe()


@pytest.fixture
def store_probe():
    return FakeStoreProbe()


@pytest.fixture
async def services(volume_probe, store_probe):
    clock = ManualClock()
    async with running_state(MemoryStore(clock=clock, new_id=counting_ids()), clock) as state:
        yield Services(
            state,
            clock,
            volume_probe,
            store_probe,
            token_is_good=lambda token: token == "secret",
            version="9.9",
            hooks=FakeHooks(),
        )


@pytest.fixture
async def api(services):
    transport = DocumentedTransport(build_application(services), raise_app_exceptions=False)
    headers = {"Authorization": "Bearer secret"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        yield client

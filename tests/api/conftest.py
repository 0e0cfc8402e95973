"""The application over memory, called without a network."""

from dataclasses import dataclass, field

import httpx2
import pytest

from tidegate.api.application import build_application
from tidegate.api.services import Services
from tidegate.errors import InvalidInput, NotFound, SourceUnreadable, StoreUnavailable
from tidegate.model.restores.restore_plan import Place
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.doubles.hooks import FakeHooks
from tidegate.testing.identity import counting_ids
from tidegate.testing.machine.documented import DocumentedTransport
from tidegate.volumes.kept_places import touched


@dataclass
class Scenery:
    """Surroundings in which the test says what is missing."""

    missing_paths: set = field(default_factory=set)
    store_is_down: bool = False
    stored: dict = field(default_factory=dict)
    places: dict = field(default_factory=dict)
    users: dict = field(default_factory=dict)

    async def check_volume(self, spec):
        if spec.path in self.missing_paths:
            raise SourceUnreadable(f"{spec.path} does not exist")
        return 4096

    async def check_target(self, access):
        if self.store_is_down:
            raise StoreUnavailable(f"{access.url} does not answer")
        if not access.url.startswith("file:///"):
            raise InvalidInput(f"{access.url} is not a URL that works")

    async def stored_backup(self, access, volume, backup):
        await self.check_target(access)
        if (volume, backup) not in self.stored:
            raise NotFound(f"cannot find backup {backup} of volume {volume} in the store")
        return self.stored[volume, backup]

    async def look_at(self, path, *, keep_out=()):
        kept = touched(path, keep_out)
        place = self.places.get(path, Place())
        return place.replace(in_the_way=f"it {kept.sentence}") if kept else place

    async def users_of(self, paths):
        return {path: self.users[path] for path in paths if path in self.users}


@pytest.fixture
def scenery():
    return Scenery()


@pytest.fixture
def services(scenery):
    clock = ManualClock()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    return Services(
        store, clock, scenery, token_is_good=lambda token: token == "secret", version="9.9", hooks=FakeHooks()
    )


@pytest.fixture
async def api(services):
    transport = DocumentedTransport(build_application(services), raise_app_exceptions=False)
    headers = {"Authorization": "Bearer secret"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        yield client

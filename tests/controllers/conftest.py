"""A whole server without its processes: memory, a manual clock, movers that the test moves."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from tidegate.app.wiring import build_work
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Metadata
from tidegate.model.setting import Setting, SettingSpec
from tidegate.objects.memory import MemoryObjects
from tidegate.resources.paged import PagedStore
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.doubles.hooks import FakeHooks
from tidegate.testing.doubles.movers import FakeMovers
from tidegate.testing.doubles.notifier import FakeNotifier
from tidegate.testing.doubles.platform import a_platform
from tidegate.testing.doubles.scratch import FakeScratch
from tidegate.testing.doubles.store_probe import FakeStoreProbe
from tidegate.testing.doubles.volume_probe import FakeVolumeProbe
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_backup, a_node, a_target, a_volume
from tidegate.testing.resources.put import put
from tidegate.testing.resources.small_store import SmallStore
from tidegate.testing.stores.system_archives import MemoryArchives


@dataclass
class World:
    clock: ManualClock = field(default_factory=ManualClock)
    movers: FakeMovers = field(default_factory=FakeMovers)
    volume_probe: FakeVolumeProbe = field(default_factory=FakeVolumeProbe)
    store_probe: FakeStoreProbe = field(default_factory=FakeStoreProbe)
    hooks: FakeHooks = field(default_factory=FakeHooks)
    scratch: FakeScratch = field(default_factory=FakeScratch)
    notifier: FakeNotifier = field(default_factory=FakeNotifier)
    store_kind: type = SmallStore

    def __post_init__(self):
        self.kept = self.store_kind(clock=self.clock, new_id=counting_ids())
        self.store = PagedStore(self.kept)
        self.archives = MemoryArchives(MemoryObjects(self.clock))
        self._build()

    def _build(self):
        self.work = build_work(a_platform(self.store, self.clock, movers=self.host, **self.rest))
        self.runtime, self.supervisor = self.work.runtime, self.work.movers

    @property
    def host(self):
        """Where the movers of this server run."""
        return self.movers

    @property
    def rest(self):
        return {
            "store_probe": self.store_probe,
            "volume_probe": self.volume_probe,
            "hooks": self.hooks,
            "scratch": self.scratch,
            "notifier": self.notifier,
            "archives": self.archives,
        }

    async def start(self):
        await self.store.create(a_target("store"))
        await put(self.store, a_node("node-a"))
        self.runtime.start()
        await self.settle()

    async def restart(self):
        """The server dies, and with it its movers; another one begins with what is stored."""
        await self.end()
        self.movers = FakeMovers()
        await self.begin_again()

    async def end(self):
        await self.runtime.stop()
        await self.supervisor.close()

    async def begin_again(self):
        self._build()
        self.runtime.start()
        await self.settle()

    async def settle(self):
        """Until nothing moves any more without time or movers."""
        await settle(300)

    async def passes(self, **delay):
        await self.clock.advance(timedelta(**delay))
        await self.settle()

    async def volumes(self, *paths):
        for path in paths:
            namespace, name = path.split("/")
            await self.store.create(a_volume(namespace, name, f"/data/{path}"))

    async def setting(self, name, value):
        await self.store.create(Setting(metadata=Metadata(name=name), spec=SettingSpec(value=value)))
        await self.settle()

    async def movers_may_be_silent(self):
        """For tests in which hours pass while a mover that says nothing is at work."""
        await self.setting("data-mover-stall-timeout", "1000h")

    async def all(self, kind):
        return list((await self.store.list(kind)).items)

    async def phase(self, kind, name):
        return str((await self.store.get(kind, name)).status.phase)


@pytest.fixture
async def world():
    world = World()
    await world.start()
    yield world
    await world.runtime.stop()
    await world.supervisor.close()


@pytest.fixture
async def a_world_of():
    """A world over another kind of store, with what the test wants of it."""
    worlds = []

    async def begin(store_kind, **wishes):
        world = World(store_kind=store_kind)
        worlds.append(world)
        vars(world.kept).update(wishes)
        await world.start()
        return world

    yield begin
    for world in worlds:
        await world.runtime.stop()
        await world.supervisor.close()


@pytest.fixture
async def backed_up(world):
    """A world with a finished backup of two namespaces, whose further movers wait for the test."""
    await world.volumes("shop/db", "blog/posts")
    world.movers.obliging = True
    await world.store.create(a_backup("b"))
    await world.settle()
    assert await world.phase(Backup, "b") == "Completed"
    world.movers.obliging = False
    world.movers.started.clear()
    return world

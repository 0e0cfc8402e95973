"""A server that lives on a store until it is idle or dies, and another one after it: for crashes at every moment."""

from dataclasses import dataclass, field

from tidegate.app.wiring import build_work
from tidegate.errors import RetryableError
from tidegate.objects.memory import MemoryObjects
from tidegate.resources.memory import MemoryStore
from tidegate.resources.paged import PagedStore
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.doubles.hooks import FakeHooks
from tidegate.testing.doubles.movers import FakeMovers
from tidegate.testing.doubles.notifier import FakeNotifier
from tidegate.testing.doubles.platform import a_platform
from tidegate.testing.doubles.scratch import FakeScratch
from tidegate.testing.doubles.store_probe import FakeStoreProbe
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.builders import a_node, a_target, a_volume
from tidegate.testing.resources.crashing_store import CrashingStore
from tidegate.testing.resources.put import put
from tidegate.testing.stores.system_archives import MemoryArchives

FOR_EVER = 10**6
_TURNS = 1500


@dataclass
class Life:
    """What is left of a server that has stopped."""

    movers: FakeMovers
    died: bool


@dataclass
class MortalWorld:
    """What outlives a server: the store, the time, and the programs that are frozen or not."""

    clock: ManualClock = field(default_factory=ManualClock)
    hooks: FakeHooks = field(default_factory=FakeHooks)
    scratch: FakeScratch = field(default_factory=FakeScratch)
    notifier: FakeNotifier = field(default_factory=FakeNotifier)
    store_probe: FakeStoreProbe = field(default_factory=FakeStoreProbe)
    """The store of the backups keeps its identity."""

    def __post_init__(self) -> None:
        self.kept = MemoryStore(clock=self.clock, new_id=counting_ids())
        self.store = PagedStore(self.kept)
        self.archives = MemoryArchives(MemoryObjects(self.clock))

    async def with_volumes(self, *names: str) -> "MortalWorld":
        """A target, a node, and these volumes in the namespace `shop`."""
        await self.store.create(a_target("store"))
        await put(self.store, a_node())
        for name in names:
            await self.store.create(a_volume("shop", name, f"/data/{name}"))
        return self

    async def live(self, *, writes: int = FOR_EVER) -> Life:
        """One life of a server with obliging movers, until it is idle, or dead after so many writes."""
        mortal, movers = CrashingStore(self.kept, writes), FakeMovers(obliging=True)
        store = PagedStore(mortal)
        work = build_work(
            a_platform(
                store,
                self.clock,
                movers=movers,
                store_probe=self.store_probe,
                hooks=self.hooks,
                scratch=self.scratch,
                notifier=self.notifier,
                archives=self.archives,
            )
        )
        try:
            await store.remove_leftovers()
        except RetryableError:
            return Life(movers, died=True)
        work.runtime.start()
        await settle(_TURNS)
        await work.runtime.stop()
        await work.movers.close()
        return Life(movers, died=mortal.dead)

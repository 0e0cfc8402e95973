"""The gates alone over a store in memory; the test does what movers and people would."""

import asyncio
from contextlib import asynccontextmanager
from random import Random

from tidegate.controllers.runtime import Runtime
from tidegate.controllers.transfers.gates import TransferGates
from tidegate.decide.transfers.restore_limit import IN_PROGRESS, RESTORE_PRIORITY_LABEL
from tidegate.model.resource import Metadata
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.transfers.transfer import DOWNLOADS, TRANSFERS, DataDownload, DataUpload, TransferPhase
from tidegate.state.merged_watch import versions_now, watch_kinds
from tidegate.testing.clock import ManualClock, settle
from tidegate.testing.doubles.takeover import NothingToTakeOver
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.a_state import a_state
from tidegate.testing.resources.builders import a_node, a_transfer
from tidegate.testing.resources.counting_store import CountingStore
from tidegate.testing.resources.put import put

P = TransferPhase


def asked_for(name, *, kind=DataDownload, label=None, phase=P.NEW, **wishes):
    """A transfer of a volume of its own; a label tells its place among the restores."""
    transfer = a_transfer(name, phase, kind=kind, volume=("ns", name), **wishes)
    return transfer.with_metadata(labels={RESTORE_PRIORITY_LABEL: str(label)} if label else {})


class GateWorld:
    def __init__(self, store_kind=CountingStore):
        self.clock = ManualClock()
        self.store = store_kind(clock=self.clock, new_id=counting_ids())
        self.begin()

    def begin(self, store=None):
        """A server's life, on this store or on one in front of it."""
        state = a_state(store or self.store, self.clock)
        self.gates = TransferGates(state, self.clock, NothingToTakeOver())
        self.runtime = Runtime(state, self.clock, Random(1), [self.gates])

    async def start(self):
        self.runtime.start()
        await self.settle()

    async def settle(self, turns=300):
        await settle(turns)

    async def setting(self, name, value):
        setting = Setting(metadata=Metadata(name=name), spec=SettingSpec(value=str(value)))
        names = [one.name for one in (await self.store.list(Setting)).items]
        if name in names:
            await self.store.update((await self.store.get(Setting, name)).replace(spec=setting.spec))
        else:
            await self.store.create(setting)
        await self.settle()

    async def ask(self, *names, kind=DataUpload, **wishes):
        for name in names:
            await put(self.store, asked_for(name, kind=kind, **wishes))
        await self.settle()

    async def restores(self, *names):
        """Downloads that were asked for in this order."""
        for number, name in enumerate(names, start=1):
            await self.ask(name, kind=DataDownload, label=number)

    async def now(self, name):
        for kind in TRANSFERS:
            for transfer in (await self.store.list(kind)).items:
                if transfer.name == name:
                    return transfer
        raise AssertionError(name)

    async def step(self, name, phase, **changes):
        """As the transfer's own controller would."""
        transfer = await self.now(name)
        await self.store.update_status(transfer.with_status(phase=phase, **changes))
        await self.settle()

    async def phases(self, *names):
        return [str((await self.now(name)).status.phase) for name in names]

    async def why(self, name):
        waiting = (await self.now(name)).status.condition("Waiting")
        return f"{waiting.reason} {waiting.message}" if waiting else None

    async def label(self, name):
        return (await self.now(name)).metadata.labels.get(RESTORE_PRIORITY_LABEL)

    async def in_progress(self):
        found = [t for kind in TRANSFERS for t in (await self.store.list(kind)).items]
        return sorted(t.name for t in found if t.metadata.labels.get(RESTORE_PRIORITY_LABEL) == IN_PROGRESS)


@asynccontextmanager
async def gates_over(store_kind=CountingStore, **settings):
    """A world with one node whose gates run; settings with _ for -."""
    world = GateWorld(store_kind)
    await put(world.store, a_node("node-a"))
    for name, value in settings.items():
        await world.setting(name.replace("_", "-"), value)
    await world.start()
    try:
        yield world
    finally:
        await world.runtime.stop()


class Onlooker:
    """Sees every stored version of every transfer: who was seen with a slot, in which order, and how many at once."""

    def __init__(self, store):
        self._store = store
        self.holding = set()
        self.seen = []
        self.most = 0
        self.ended = set()
        self._all_over = asyncio.Event()
        self._expected = None

    async def look(self, since):
        async for event in watch_kinds(self._store, since):
            name, transfer = event.resource.name, event.resource
            holds = transfer.metadata.labels.get(RESTORE_PRIORITY_LABEL) == IN_PROGRESS
            # What runs without the label would be a slot that nobody sees.
            runs = transfer.status.phase in {P.ACCEPTED, P.PREPARED, P.IN_PROGRESS, P.CANCELING}
            assert holds or not runs, f"{name} runs without a label"
            if holds and name not in self.holding:
                self.seen.append(name)
            (self.holding.add if holds else self.holding.discard)(name)
            self.most = max(self.most, len(self.holding))
            if transfer.status.phase.final and not holds:
                self.ended.add(name)
            if len(self.ended) == self._expected:
                self._all_over.set()

    @asynccontextmanager
    async def looking(self, *, expected=None):
        self._expected = expected
        since = await versions_now(self._store, DOWNLOADS)
        task = asyncio.create_task(self.look(since))
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def all_over(self):
        """Long enough for any machine; a test that runs into it hangs for a reason."""
        async with asyncio.timeout(300):
            await self._all_over.wait()

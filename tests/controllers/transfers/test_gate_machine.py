"""The gates under whatever people, movers, nodes, a slow store and crashes do at the same time."""

from collections import Counter
from contextlib import asynccontextmanager
from random import Random

import pytest

from controllers.gate_world import (  # type: ignore[import-not-found]  # pytest has tests/ on its path
    GateWorld,
    P,
    asked_for,
)
from tidegate.decide.transfers.prepare_count import PREPARING
from tidegate.decide.transfers.restore_limit import IN_PROGRESS, RESTORE_PRIORITY_LABEL
from tidegate.errors import NotFound, StaleVersion
from tidegate.model.kinds import kind_name
from tidegate.model.transfers.node import Node, NodeStatus
from tidegate.model.transfers.transfer import TRANSFERS
from tidegate.ports.resource_store import Change
from tidegate.testing.resources.builders import a_node
from tidegate.testing.resources.observed_store import ObservedStore
from tidegate.testing.resources.put import put

RESTORES, PREPARE, LOAD = 2, 3, 2
NODES = ["node-a", "node-b"]
STEPS = 120
KINDS = {kind_name(kind) for kind in TRANSFERS}


class Witness:
    """Holds every stored version against the limits."""

    def __init__(self):
        self.seen = {}
        self.broken = []

    def observe(self, event):
        if event.resource.kind in KINDS:
            self.seen[event.resource.ref] = event.resource
            if event.change is Change.DELETED:
                del self.seen[event.resource.ref]
            self.check()

    def check(self):
        found = self.seen.values()
        labelled = sum(t.metadata.labels.get(RESTORE_PRIORITY_LABEL) == IN_PROGRESS for t in found)
        preparing = sum(t.status.phase in PREPARING for t in found)
        moving = Counter(t.status.node for t in found if t.status.phase.moving)
        limits = {"restore limit": labelled <= RESTORES, "prepare queue": preparing <= PREPARE}
        limits["node load"] = all(number <= LOAD for number in moving.values())
        self.broken += [limit for limit, kept in limits.items() if not kept]


@asynccontextmanager
async def a_busy_world(chance):
    world, witness = GateWorld(ObservedStore), Witness()
    world.store.answers_after, world.store.news_after = chance.choice([0, 1, 7, 30]), chance.choice([0, 1, 7, 30])
    for name in NODES:
        await put(world.store, a_node(name))
    await world.setting("load-concurrency", f'{{"globalConfig": {LOAD}, "prepareQueueLength": {PREPARE}}}')
    await world.setting("concurrent-backup-restore-limit", RESTORES)
    world.store.observers.append(witness.observe)
    world.runtime.start()
    try:
        yield world
        await world.settle(2000)
    finally:
        await world.runtime.stop()
    assert witness.broken == []


async def everything(world):
    return [t for kind in TRANSFERS for t in (await world.store.list(kind)).items]


async def something_happens(world, chance, number):
    found = [t for t in await everything(world) if not t.status.phase.final]
    one = chance.choice(found) if found else None
    match chance.choice(["ask", "ask", "ask", "move", "move", "move", "cancel", "delete", "node", "restart"]):
        case "ask":
            wanted = chance.choice([None, None, *NODES])
            transfer = asked_for(f"t{number:03}", kind=chance.choice(TRANSFERS)).with_spec(node=wanted)
            await world.store.create(transfer)
        case "move" if one:
            await carry_on(world, one, chance)
        case "cancel" if one:
            await world.store.cancel(one.ref)
        case "delete" if one:
            await world.store.delete(one.ref)
        case "node":
            node = await world.store.get(Node, chance.choice(NODES))
            await world.store.update_status(node.replace(status=NodeStatus(ready=not node.status.ready)))
        case "restart" if chance.random() < 0.3:
            await world.runtime.stop()
            world.begin()
            world.runtime.start()


async def carry_on(world, one, chance):
    """What the transfer's own controller and its mover do."""
    ends = [P.COMPLETED, P.FAILED]
    step = {P.ACCEPTED: [P.PREPARED, P.PREPARED, P.FAILED], P.IN_PROGRESS: [*ends, P.CANCELING], P.CANCELING: ends}
    if one.spec.cancel and one.status.phase in {P.NEW, P.ACCEPTED, P.PREPARED}:
        await world.store.update_status(one.with_status(phase=P.CANCELED))
    elif one.status.phase in step:
        await world.store.update_status(one.with_status(phase=chance.choice(step[one.status.phase])))


@pytest.mark.parametrize("seed", range(10))
async def test_no_limit_is_exceeded_at_any_version_and_everything_comes_to_an_end(seed):
    chance = Random(seed)
    async with a_busy_world(chance) as world:
        for number in range(STEPS):
            try:
                await something_happens(world, chance, number)
            except (StaleVersion, NotFound):
                continue  # somebody was faster
            await world.settle(chance.choice([0, 1, 5, 40]))
        for name in NODES:
            node = await world.store.get(Node, name)
            await world.store.update_status(node.replace(status=NodeStatus(ready=True)))
        await world.settle(3000)
        await assert_whoever_waits_says_why(world)
        while left := [t for t in await everything(world) if not t.status.phase.final]:
            before = [t.metadata.resource_version for t in left]
            for transfer in left:
                await carry_on(world, transfer, chance)
            await world.settle(600)
            assert [t.metadata.resource_version for t in await everything(world) if t in left] != before
    assert [t.name for t in await everything(world) if t.metadata.labels] == []


async def assert_whoever_waits_says_why(world):
    waiting = [t for t in await everything(world) if t.status.phase in {P.NEW, P.PREPARED} and not t.spec.cancel]
    assert [t.name for t in waiting if t.status.condition("Waiting") is None] == []

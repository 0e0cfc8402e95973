"""The nodes of a server from start to start."""

from contextlib import suppress

import pytest

from tidegate.app.machine.virtual_nodes import register_nodes, this_machine
from tidegate.errors import RetryableError
from tidegate.model.transfers.node import Node
from tidegate.model.transfers.virtual_node import VirtualNode
from tidegate.resources.sqlite import SqliteStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.crashing_store import CrashingStore

CLOCK = ManualClock()
A, B = VirtualNode(name="node-a", labels={"disk": "slow"}, slots=2), VirtualNode(name="node-b")


@pytest.fixture
async def store(tmp_path):
    store = await SqliteStore.open(tmp_path / "db", clock=CLOCK, new_id=counting_ids())
    yield store
    await store.close()


async def ready(store):
    return {node.name: node.status.ready for node in (await store.list(Node)).items}


async def test_without_a_file_the_machine_is_the_one_node(store):
    name = await register_nodes(store, (), clock=CLOCK)

    assert name == this_machine().name
    assert await ready(store) == {name: True}
    assert (await store.get(Node, name)).metadata.labels == {"kubernetes.io/hostname": name}


async def test_a_file_names_all_nodes_and_the_first_takes_what_names_none(store):
    assert await register_nodes(store, (B, A), clock=CLOCK) == "node-b"

    assert await ready(store) == {"node-a": True, "node-b": True}
    stored = await store.get(Node, "node-a")
    assert (stored.spec.slots, stored.metadata.labels) == (2, {"disk": "slow", "kubernetes.io/hostname": "node-a"})


async def test_a_node_that_is_no_longer_named_stays_and_says_why_it_is_not_ready(store):
    await register_nodes(store, (A, B), clock=CLOCK)
    await register_nodes(store, (B,), clock=CLOCK)

    assert await ready(store) == {"node-a": False, "node-b": True}
    condition = (await store.get(Node, "node-a")).status.condition("Ready")
    assert (condition.status, condition.reason) == ("False", "NotNamed")
    assert "the server was started without it" in condition.message


async def test_the_machine_gives_way_to_a_file_and_comes_back_without_it(store):
    machine = await register_nodes(store, (), clock=CLOCK)
    await register_nodes(store, (A,), clock=CLOCK)
    assert await ready(store) == {machine: False, "node-a": True}

    await register_nodes(store, (), clock=CLOCK)

    assert await ready(store) == {machine: True, "node-a": False}


async def test_a_node_that_is_named_again_is_ready_with_its_new_labels_and_slots(store):
    await register_nodes(store, (A, B), clock=CLOCK)
    uid = (await store.get(Node, "node-a")).metadata.uid
    await register_nodes(store, (B,), clock=CLOCK)

    await register_nodes(store, (VirtualNode(name="node-a", labels={"disk": "fast"}), B), clock=CLOCK)

    node = await store.get(Node, "node-a")
    assert (node.status.ready, node.status.conditions, node.metadata.uid) == (True, (), uid)
    assert (node.spec.slots, node.metadata.labels["disk"]) == (None, "fast")


async def test_the_same_file_again_changes_nothing(store):
    await register_nodes(store, (A, B), clock=CLOCK)
    before = (await store.list(Node)).items

    await register_nodes(store, (A, B), clock=CLOCK)

    assert (await store.list(Node)).items == before


@pytest.mark.parametrize("writes", range(5))
async def test_a_start_that_dies_in_between_is_made_good_by_the_next(store, writes):
    with suppress(RetryableError):
        await register_nodes(CrashingStore(store, writes), (A, B), clock=CLOCK)
    await register_nodes(store, (A, B), clock=CLOCK)

    assert await ready(store) == {"node-a": True, "node-b": True}

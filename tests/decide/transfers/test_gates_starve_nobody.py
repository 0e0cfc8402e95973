"""Random workloads on four nodes, step by step: restores are not starved, and no node idles for nothing."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.decide.transfers.gate_surroundings import GateSurroundings
from tidegate.decide.transfers.gates import plan_accepts, plan_starts
from tidegate.decide.transfers.prepare_count import PREPARING
from tidegate.decide.transfers.restore_limit import asked, in_progress, over
from tidegate.decide.transfers.waits import TransferWaits
from tidegate.model.setting import effective_settings
from tidegate.model.transfers.load import LoadConcurrency
from tidegate.model.transfers.transfer import DataDownload, DataUpload, TransferPhase
from tidegate.state.transfers import TransferTable
from tidegate.testing.resources.builders import THEN, a_node, a_transfer

P = TransferPhase
NODES = ("n1", "n2", "n3", "n4")


class World:
    """What the gates decide is done at once; how long each is prepared and moves is up to the test."""

    def __init__(self, load, nodes=NODES):
        now = replace(effective_settings([]), concurrent_restores=1_000, load_concurrency=load)
        self.load, self.nodes = load, nodes
        self.around = GateSurroundings.of(now, [a_node(name) for name in nodes])
        self.table, self.stored = TransferTable(), {}
        self.ends: dict[str, int] = {}
        """Transfers that ended on its node while a restore waited."""
        self.asked = 0
        self.now = THEN

    def ask(self, *, restore, node):
        self.asked += 1
        self.now += timedelta(seconds=1)
        kind = DataDownload if restore else DataUpload
        transfer = a_transfer(f"t{self.asked:03}", kind=kind, volume=("ns", f"v{self.asked}"))
        transfer = transfer.with_spec(node=node).with_metadata(creation_timestamp=self.now)
        self._put(asked(transfer) if restore else transfer)
        if restore:
            self.ends[transfer.name] = 0
        self.settle()
        return transfer.name

    def ready(self, name):
        self._put(self.stored[name].with_status(phase=P.PREPARED))
        self.settle()

    def end(self, name):
        node = self.stored[name].status.node
        self.now += timedelta(seconds=1)
        ended = self.stored.pop(name).with_status(phase=P.COMPLETED, completion_timestamp=self.now)
        self.table.note(over(ended) if ended.direction == "download" else ended)
        for restore in self.ends:
            waiting = self.stored.get(restore)
            if waiting and waiting.spec.node == node and self.waits_for_its_node(waiting):
                self.ends[restore] += 1
        self.settle()

    def settle(self):
        while True:
            starts = plan_starts(self.table, self.around)
            for entry in starts:
                self._put(self.stored[entry.place.name].with_status(phase=P.IN_PROGRESS))
            accepts = plan_accepts(self.table, self.around)
            for one in accepts:
                transfer = self.stored[one.entry.place.name]
                taken = in_progress(transfer) if one.entry.restore else transfer
                self._put(taken.with_status(phase=P.ACCEPTED, node=one.node))
            if not (starts or accepts):
                return

    def named(self, *phases):
        return sorted(name for name, transfer in self.stored.items() if transfer.status.phase in phases)

    def on(self, node, *phases):
        return [t for t in self.stored.values() if t.status.node == node and t.status.phase in phases]

    def share_is_taken(self, node):
        """A second restore on the node would be beyond the share; with one slot it waits for the first alone."""
        restores = [t for t in self.stored.values() if t.spec.node == node and t.direction == "download"]
        return any(not t.status.phase.moving or self.load.global_config != 1 for t in restores)

    def waits_for_its_node(self, transfer):
        """With limits of their own restores wait for nothing but their being prepared."""
        return not transfer.status.phase.moving and self.load.global_config is not None

    def _put(self, transfer):
        self.stored[transfer.name] = transfer
        self.table.note(transfer)

    def check(self):
        length = self.load.prepare_queue_length
        preparing = [t for t in self.stored.values() if t.status.phase in PREPARING]
        assert length is None or len(preparing) <= length
        coming = any(t.status.phase is P.ACCEPTED for t in preparing)
        for node in self.nodes:
            moving = Counter(t.direction for t in self.on(node, P.IN_PROGRESS))
            limit = self.load.global_config
            assert (max(moving.values(), default=0) if limit is None else moving.total()) <= (limit or 1)
            restore_comes = "download" in {t.direction for t in self.on(node, P.ACCEPTED)} or len(preparing) == length
            ready = {t.direction for t in self.on(node, P.PREPARED)}
            free = ready - set(moving) if limit is None else moving.total() < limit and ready
            assert not free or (coming and restore_comes), f"{node} idles"
            idle = not moving and not self.on(node, *PREPARING)
            wanted = any(t.spec.node == node for t in self.stored.values() if t.status.phase is P.NEW)
            # Whoever is being prepared leaves its place in a moment, or keeps its own node busy.
            assert not (idle and wanted) or coming, f"{node} idles"
        assert not preparing or coming or self.named(P.IN_PROGRESS), "nothing moves"
        for name, ends in self.ends.items():
            waiting = self.stored.get(name)
            if waiting and not waiting.status.phase.moving and ends:
                moving_there = self.on(waiting.spec.node, P.IN_PROGRESS)
                assert limit is not None, "it does not wait for backups"
                assert len(moving_there) < limit, "a transfer took the slot of a restore"
                assert waiting.status.phase is not P.PREPARED
        waits = TransferWaits(self.table, self.around)
        assert {held.entry.place.name for held in waits.untold()} == set(self.named(P.NEW, P.PREPARED))


lengths = st.one_of(st.none(), st.integers(1, 6))
kinds_of_step = st.sampled_from(["backup", "backup", "backup", "restore", "ready", "ready", "end"])
# Long ones: what holds up others takes some steps to come about.
steps = st.lists(st.tuples(kinds_of_step, st.integers(0, 1000)), min_size=20, max_size=80)


@pytest.mark.parametrize("nodes", [NODES, NODES[:1]], ids=["four nodes", "one node"])
@settings(max_examples=100)
@given(limit=st.one_of(st.none(), st.integers(1, 3)), length=lengths, steps=steps)
def test_a_restore_moves_after_at_most_one_transfer_and_no_node_idles_for_full_ones(nodes, limit, length, steps):
    world = World(LoadConcurrency(global_config=limit, prepare_queue_length=length, restore_share=1), nodes)

    for what, number in steps:
        node = nodes[number % len(nodes)]
        if what == "backup" or (what == "restore" and not world.share_is_taken(node)):
            world.ask(restore=what == "restore", node=node)
        elif what in {"ready", "end"}:
            candidates = world.named(P.ACCEPTED if what == "ready" else P.IN_PROGRESS)
            if candidates:
                (world.ready if what == "ready" else world.end)(candidates[number % len(candidates)])
        world.check()


def test_a_restore_overtakes_a_row_of_older_backups_in_a_short_queue():
    world = World(LoadConcurrency(global_config=1, prepare_queue_length=2, restore_share=1), NODES[:1])
    for _ in range(8):
        world.ask(restore=False, node="n1")
    for name in world.named(P.ACCEPTED):
        world.ready(name)

    restore = world.ask(restore=True, node="n1")
    world.ready(restore)
    world.end(*world.named(P.IN_PROGRESS))

    assert world.named(P.IN_PROGRESS) == [restore]


def test_backups_for_a_full_node_leave_the_other_nodes_at_work():
    world = World(LoadConcurrency(global_config=1, prepare_queue_length=2, restore_share=1))
    for _ in range(4):
        world.ask(restore=False, node="n1")
    for name in world.named(P.ACCEPTED):
        world.ready(name)

    others = [world.ask(restore=restore, node=node) for node, restore in [("n2", False), ("n3", True), ("n4", False)]]
    while world.named(P.ACCEPTED):
        world.ready(world.named(P.ACCEPTED)[0])

    assert {*others} <= {*world.named(P.IN_PROGRESS)}


def test_where_only_places_are_missing_the_slot_goes_that_no_restore_has_waited_a_transfer_for():
    """Both restores have a free node and no place: one of two backups that are ready must take the slot it left."""
    world = World(LoadConcurrency(global_config=1, prepare_queue_length=2, restore_share=1))
    moving = world.ask(restore=False, node="n1")
    world.ready(moving)
    ahead = world.ask(restore=False, node="n1")
    with_room = world.ask(restore=False, node="n2")
    world.ready(ahead)
    waited = world.ask(restore=True, node="n1")
    world.ask(restore=True, node="n2")

    world.end(moving)
    world.ready(with_room)

    assert world.named(P.IN_PROGRESS) == [with_room]
    world.ready(waited)
    assert world.named(P.IN_PROGRESS) == sorted([with_room, waited])


def test_a_restore_that_moves_once_it_is_ready_gets_a_place_before_an_older_one_that_does_not():
    world = World(LoadConcurrency(global_config=1, prepare_queue_length=2, restore_share=1))
    busy, ends = (world.ask(restore=False, node=node) for node in ("n1", "n2"))
    for name in (busy, ends):
        world.ready(name)
    ahead = world.ask(restore=False, node="n2")
    world.ready(ahead)
    older, younger = (world.ask(restore=True, node=node) for node in ("n1", "n2"))

    world.end(ends)

    assert (world.named(P.ACCEPTED), world.named(P.NEW)) == ([younger], [older])
    world.ready(younger)
    assert world.named(P.IN_PROGRESS) == [busy, younger]

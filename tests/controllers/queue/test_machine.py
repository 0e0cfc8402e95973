"""Whatever happens in whatever order: no limit exceeded, no overlap, nobody forgotten."""

import asyncio
from datetime import timedelta
from fnmatch import fnmatchcase

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from controllers.conftest import World  # type: ignore[import-not-found]  # pytest has tests/ on its path
from controllers.watched_work import WatchedWork  # type: ignore[import-not-found]
from tidegate.controllers.queue.backup_queue import KEY
from tidegate.controllers.reconcile.observation import all_of, settings_now
from tidegate.decide.queue.order import tickets_after_move
from tidegate.decide.queue.plan import plan_starts
from tidegate.decide.queue.surroundings import surroundings_of
from tidegate.errors import NotFound
from tidegate.model.backups.backup import BACKUP_FINALIZER, Backup, BackupPhase, OnInterruption
from tidegate.model.reasons import Reason
from tidegate.model.resource import Metadata, Ref
from tidegate.model.restores.restore import RESTORE_FINALIZER, Restore, RestorePhase, RestoreSpec
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.stores.target import BackupTarget
from tidegate.model.volumes.volume import Namespace, Volume
from tidegate.ports.resource_store import Change
from tidegate.state.queue import QueueTable
from tidegate.testing.clock import settle
from tidegate.testing.resources.builders import a_backup, a_volume, freezing
from tidegate.testing.resources.observed_store import ObservedStore

# Of these, d has no volume and e does not exist.
NAMESPACES = ("a", "b", "ab", "c", "d")
ALL_NAMES = (*NAMESPACES, "e")
WISHES = st.lists(st.sampled_from([*ALL_NAMES, "a*", "*b", "?", "[ab]", "*"]), max_size=3, unique=True).map(tuple)
EXCLUDES = st.sampled_from([(), (), (), ("a",), ("b", "c"), ("a*",)])
NUMBERS = st.integers(0, 10**6)
SLOW = st.sampled_from(["thaw", "movers", "both", "nothing"])
KINDS = st.sampled_from([Backup, Backup, Restore])
SOURCE = "source"
"""The backup that is restored."""
BEGINS = {BackupPhase.READY_TO_START, RestorePhase.IN_PROGRESS}


def touched(one):
    """The namespaces that a backup, or a restore, is about, without any of the code that is tested."""
    spec = one.spec
    if isinstance(one, Restore):
        return set() if spec.destination else set(spec.included_namespaces)

    def among(name, patterns):
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    return {
        name
        for name in ALL_NAMES
        if (not spec.included_namespaces or among(name, spec.included_namespaces))
        and not among(name, spec.excluded_namespaces)
    }


class Queues(RuleBasedStateMachine):
    """A whole server whose movers, hooks, settings, target and power do as they like."""

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.work = WatchedWork()
        self.world = World(store_kind=ObservedStore, hooks=self.work.hooks)
        self.names = 0
        self.seen = {}  # each backup and restore as the news have it so far
        self.at_work = set()  # from InProgress to whatever ends that, through Deleting
        self.limit = 1

    def do(self, work):
        return self.loop.run_until_complete(work)

    @initialize(limit=st.integers(1, 4), answers=st.integers(0, 3), news=st.integers(0, 3))
    def begin(self, limit, answers, news):
        self.world.kept.answers_after, self.world.kept.news_after = answers, news
        self.do(self._begin())
        self.do(self._set("concurrent-backups", str(limit)))
        self.do(self._settle())

    async def _begin(self):
        self.steps, self.changes = [], 0
        self.world.kept.observers.append(self._observe)
        for name in NAMESPACES:
            await self.world.store.create(Namespace(metadata=Metadata(name=name)))
            if name != "d":
                await self.world.store.create(a_volume(name, "files", f"/data/{name}"))
        await self._set("load-concurrency", '{"globalConfig": 20}')
        self.world.movers.obliging = True
        await self.world.start()
        await self.world.store.create(a_backup(SOURCE))
        await self._settle()
        assert await self.world.phase(Backup, SOURCE) == "Completed"
        self.world.movers.obliging = False
        self.world.movers.started.clear()

    def teardown(self):
        try:
            self.do(self._let_everything_end())
        finally:
            self.do(self.world.runtime.stop())
            self.do(self.world.supervisor.close())
            self.loop.close()

    # What is done.

    async def _settle(self):
        """Until nothing is written any more."""
        changes = None
        while changes != (changes := self.changes):
            await settle(300)
        self._check_each_step()

    def _observe(self, event):
        self.steps.append(event)
        self.changes += 1

    async def _set(self, name, value):
        try:
            stored = await self.world.store.get(Setting, name)
        except NotFound:
            stored = None
        wanted = Setting(metadata=Metadata(name=name), spec=SettingSpec(value=value))
        if stored is None:
            await self.world.store.create(wanted)
        else:
            await self.world.store.update(stored.replace(spec=wanted.spec))

    async def _pick(self, number, *phases, kind=Backup):
        """Some backup, or restore, that is in one of these phases, or in none that is final."""
        found = [b for b in await self.world.all(kind) if not b.deleting and not b.status.phase.final]
        found = [b for b in found if not phases or b.status.phase in phases]
        return found[number % len(found)] if found else None

    @rule(
        wanted=WISHES,
        excluded=EXCLUDES,
        priority=st.integers(-2, 2),
        again=st.booleans(),
        together=st.integers(1, 3),
        freezes=st.booleans(),
    )
    def create(self, wanted, excluded, *, priority, again, together, freezes):
        self.do(self._create(wanted, excluded, priority, again=again, together=together, freezes=freezes))
        self.do(self._settle())

    @rule(names=st.lists(st.sampled_from(ALL_NAMES), min_size=1, max_size=3, unique=True), freezes=st.booleans())
    def create_small_ones(self, names, freezes):
        """What most people do: one namespace each."""
        for name in names:
            self.do(self._create((name,), (), 0, again=False, freezes=freezes))
        self.do(self._settle())

    async def _create(self, wanted, excluded, priority, *, again, together=1, freezes=False):
        for _ in range(together):
            self.names += 1
            policy = OnInterruption.REQUEUE if again else OnInterruption.FAIL
            backup = a_backup(f"b{self.names:03}", *wanted).with_metadata(finalizers=(BACKUP_FINALIZER,))
            spec = {"excluded_namespaces": excluded, "priority": priority, "on_interruption": policy}
            hooks = {"hooks": freezing()} if freezes else {}
            await self.world.store.create(backup.with_spec(**spec, **hooks))

    @rule(
        names=st.lists(st.sampled_from(NAMESPACES[:-1]), min_size=1, max_size=2, unique=True),
        elsewhere=st.sampled_from([False, False, True]),
    )
    def restore(self, names, elsewhere):
        self.do(self._restore(names, elsewhere=elsewhere))

    async def _restore(self, names, *, elsewhere=False):
        self.names += 1
        metadata = Metadata(name=f"r{self.names:03}", finalizers=(RESTORE_FINALIZER,))
        place = f"/elsewhere/{self.names}" if elsewhere else None
        spec = RestoreSpec(backup_name=SOURCE, included_namespaces=tuple(names), destination=place)
        await self.world.store.create(Restore(metadata=metadata, spec=spec))
        await self._settle()

    @rule(number=NUMBERS, well=st.booleans())
    def a_mover_ends(self, number, well):
        if at_work := self.work.at_work(self.world.movers):
            self.work.end(at_work[number % len(at_work)], well=well)
        self.do(self._settle())

    @rule(number=NUMBERS, kind=KINDS)
    def cancel(self, number, kind):
        self.do(self._cancel(number, kind))

    async def _cancel(self, number, kind):
        if one := await self._pick(number, kind=kind):
            await self.world.store.cancel(one.ref)
        await self._settle()

    @rule(number=NUMBERS, kind=KINDS)
    def delete(self, number, kind):
        self.do(self._delete(number, kind=kind))

    @rule(
        name=st.sampled_from(NAMESPACES[:-1]),
        kind=KINDS,
        waiting=KINDS,
        number=NUMBERS,
        slow=SLOW,
        removed=st.booleans(),
    )
    def delete_what_runs_while_another_waits(self, name, kind, waiting, number, *, slow, removed):
        for one in (kind, waiting):
            asked = self._create((name,), (), 2, again=False, freezes=True) if one is Backup else self._restore((name,))
            self.do(asked)
            self.do(self._settle())
        if slow in {"thaw", "both"}:
            self.world.hooks.stuck.add("thaw")
        self.work.set_stubborn(self.world.movers, stubborn=slow in {"movers", "both"})
        runs = BackupPhase.IN_PROGRESS if kind is Backup else RestorePhase.IN_PROGRESS
        self.do(self._delete(number, runs, kind=kind))

        if removed:
            self.work.end_removals(self.world.movers)
            self.do(self._settle())

    async def _delete(self, number, *phases, kind):
        if one := await self._pick(number, *phases, kind=kind):
            await self.world.store.delete(one.ref)
        await self._settle()

    @rule(freeze_hangs=st.booleans())
    def hooks_that_hang_end(self, freeze_hangs):
        for command in ("freeze", "thaw"):
            self.world.hooks.let_go(command)
        if freeze_hangs:
            self.world.hooks.stuck.add("freeze")
        self.do(self._settle())

    @rule(knob=st.sampled_from(["pause", "resume", "target down", "target up", "1", "2", "3", "4"]))
    def somebody_turns_a_knob(self, knob):
        if knob.startswith("target"):
            self.world.store_probe.down = knob == "target down"
            self.world.runtime.wakes.wake("target", Ref("BackupTarget", "store"))
        elif knob.isdigit():
            self.do(self._set("concurrent-backups", knob))
        else:
            self.do(self._set("backup-queue-paused", "true" if knob == "pause" else "false"))
        self.do(self._settle())

    @rule(number=NUMBERS, to=st.integers(1, 6))
    def move(self, number, to):
        self.do(self._move(number, to))

    async def _move(self, number, to):
        backup = await self._pick(number, BackupPhase.QUEUED)
        queued = [(e.name, e.ticket, e.priority) for e in self.world.runtime.state.queue.queued()]
        if backup is not None:
            for name, ticket in tickets_after_move(queued, backup.name, to, head_start_seconds=600).items():
                stored = await self.world.store.get(Backup, name)
                await self.world.store.update(stored.with_spec(queue_ticket=ticket))
            await self._settle()
            waiting = [b for b in await self.world.all(Backup) if b.status.phase is BackupPhase.QUEUED]
            assert [b.name for b in waiting if b.status.queue_ticket != b.ticket] == []
            assert self.world.runtime.state.queue.position(backup.name) == min(to, len(queued))

    @rule(minutes=st.sampled_from([1, 15]))
    def time_passes(self, minutes):
        self.work.kill_those_that_do_not_stop(self.world.movers)
        self.do(self.world.passes(minutes=minutes))
        self.do(self._settle())

    @rule(wanted=WISHES, again=st.booleans(), turns=st.integers(0, 60))
    def restart(self, wanted, again, turns):
        """In the middle of whatever a new backup causes."""
        self.do(self._restart(wanted, again, turns))

    async def _restart(self, wanted, again, turns):
        await self._create(wanted, (), 0, again=again)
        await settle(turns)
        self.work.ended_movers.clear()
        await self.world.restart()
        await self._settle()

    # What must stay true.

    def _check_each_step(self):
        """Every single write, in the order of all writes, not only where things come to rest."""
        for event in self.steps:
            one = event.resource
            if one.name == "concurrent-backups":
                self.limit = int(one.spec.value)
            if isinstance(one, Backup | Restore):
                before = self.seen.pop(one.ref, None)
                if event.change is not Change.DELETED:
                    self.seen[one.ref] = one
                self._note_work(one, gone=event.change is Change.DELETED)
                if before is not None and one.status.phase in BEGINS and before.status.phase not in BEGINS:
                    self._may_start(one)
        self.steps.clear()

    def _note_work(self, one, *, gone):
        if one.status.phase in {BackupPhase.IN_PROGRESS, RestorePhase.IN_PROGRESS} and not gone:
            self.at_work.add(one.ref)
        elif gone or one.status.phase is not BackupPhase.DELETING:
            self.at_work.discard(one.ref)

    def _may_start(self, one):
        ready = {ref for ref, b in self.seen.items() if b.status.phase is BackupPhase.READY_TO_START and not b.deleting}
        running = [self.seen[ref] for ref in self.at_work | ready]
        assert sum(isinstance(other, Backup) for other in running) <= self.limit
        for other in running:
            assert other.ref == one.ref or not touched(one) & touched(other)

    @invariant()
    def no_application_is_touched_while_another_request_has_frozen_it_or_moves_its_data(self):
        self.work.check(self.world.movers)

    @invariant()
    def a_restore_that_waits_knows_why(self):
        for restore in self.do(self.world.all(Restore)):
            if restore.status.phase is RestorePhase.NEW and not restore.deleting:
                condition = restore.status.condition("Waiting")
                assert Reason(condition.reason) is not Reason.PENDING_EVALUATION
                assert condition.message

    @invariant()
    def whoever_waits_stands_somewhere_and_knows_why(self):
        backups = self.do(self.world.all(Backup))
        waiting = [b for b in backups if b.status.phase is BackupPhase.QUEUED]
        table = self.world.runtime.state.queue
        assert sorted(table.position(b.name) for b in waiting) == list(range(1, len(waiting) + 1))
        for backup in waiting:
            condition = backup.status.condition("Waiting")
            assert Reason(condition.reason) is not Reason.PENDING_EVALUATION
            assert condition.message
            assert "9q7z9" not in condition.message
        for backup in backups:
            assert backup.status.phase is BackupPhase.QUEUED or backup.status.condition("Waiting") is None

    @invariant()
    def the_mirror_shows_what_is_stored_and_nobody_waits_who_could_run(self):
        self.do(self._compare_with_the_store())

    async def _compare_with_the_store(self):
        store, table, fresh = self.world.store, self.world.runtime.state.queue, QueueTable()
        fresh.replace_all(await all_of(store, Backup))
        values = await settings_now(store)
        around = surroundings_of(
            values, await all_of(store, Namespace), await all_of(store, BackupTarget), await all_of(store, Volume)
        )
        by_volume = around.volumes is not None
        around = around.with_restores(self.world.runtime.state.restores.claims(by_volume=by_volume))
        snapshot = fresh.snapshot(around)
        assert table.snapshot(around).running == snapshot.running
        assert list(table.queued()) == list(fresh.queued())
        assert [table.position(e.name) for e in fresh.queued()] == [fresh.position(e.name) for e in fresh.queued()]
        assert (len(table), table.new(), table.cancelled()) == (len(fresh), [], [])
        assert plan_starts(snapshot, limit=values.concurrent_backups) == ()

    @invariant()
    def a_pass_after_a_pass_changes_nothing(self):
        self.do(self._look_again())

    async def _look_again(self):
        before = (await self.world.store.list(Backup)).resource_version
        self.world.runtime.wakes.wake("backup-queue", KEY)
        await settle(100)
        assert (await self.world.store.list(Backup)).resource_version == before
        assert self.world.runtime.error_counts()["backup-queue"] == 0

    async def _let_everything_end(self):
        """No starvation: with all obstacles gone, everything ends."""
        await self._set("backup-queue-paused", "false")
        self.world.store_probe.down = False
        self.world.runtime.wakes.wake("target", Ref("BackupTarget", "store"))
        for command in ("freeze", "thaw"):
            self.world.hooks.let_go(command)
        await self._settle()
        for _ in range(4 * self.names + 10):
            if not (await self._unfinished()):
                break
            for mover in self.work.at_work(self.world.movers):
                self.work.end(mover)
            await self.world.clock.advance(timedelta(seconds=10))  # what failed is tried again after a while
            await self._settle()
        assert await self._unfinished() == []

    async def _unfinished(self):
        found = [*await self.world.all(Backup), *await self.world.all(Restore)]
        return [(one.ref, one.status.phase) for one in found if not one.status.phase.final]


Queues.TestCase.settings = settings(
    max_examples=60, stateful_step_count=20, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
TestQueues = Queues.TestCase

"""Whatever happens in whatever order, a finished backup restores exactly what it was made from."""

import asyncio
import contextlib
import random
import tempfile
import threading
from datetime import timedelta
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tidegate.datapath.inspection.verify import Verification
from tidegate.datapath.leftovers import BEGUN_DEAD_AFTER
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import TidegateError
from tidegate.format.blocks.compression import Compression, compress
from tidegate.format.blocks.encryption_key import EncryptionKey
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.lock_file import EXPIRY
from tidegate.format.cfgs.paths import block_key
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.sample_data import picture
from tidegate.testing.stores.faulty_objects import FaultyObjects
from tidegate.testing.stores.power_cut import LosingObjects
from tidegate.testing.stores.weather import Trouble, Weather

VOLUME = "shop.db"
KEY = "11" * 32
LETTERS = st.text("ABC-", min_size=1, max_size=3)
# A listing that is older than a lock's wait contradicts what every store promises: test_known_losses.py has its cases,
# test_late_listings.py those of listings that are a little late.
TROUBLES = [trouble for trouble in Trouble if trouble is not Trouble.STALE_LISTING]


def content_of(letters):
    """The blocks of an image by offset; `-` is a hole."""
    blocks = {
        number * BLOCK: random.Random(letter).randbytes(64).ljust(BLOCK, b"\0") for number, letter in enumerate(letters)
    }
    return {offset: blocks[offset] for offset in blocks if letters[offset // BLOCK] != "-"}


class Stores(RuleBasedStateMachine):
    """One volume in one store, of which everything is asked that can be asked, in all weathers."""

    def __init__(self):
        super().__init__()
        self.home = contextlib.ExitStack()
        self.path = Path(self.home.enter_context(tempfile.TemporaryDirectory()))
        self.clock = ManualClock()
        self.passing = threading.Lock()  # two uploads at once let time pass at once
        self.store = LosingObjects(self.clock)
        self.weather = None
        self.sources = {}  # name of each backup ever asked for: what it is made from
        self.promised = set()  # those that were told to be done and never asked to be removed
        self.hurt = set()  # those that had a block which was damaged afterwards
        self.rotten = set()  # blocks that look as if they were good
        self.count = 0

    def teardown(self):
        self.clean_up()
        self.verify_and_restore_everything()
        self.home.close()

    # What is done.

    def _pass(self, seconds):
        with self.passing:
            asyncio.run(self.clock.advance(timedelta(seconds=seconds)))

    def _bench(self, *, sealed=False, dies_after=None):
        objects = FaultyObjects(self.store, dies_after_writes=dies_after, weather=self.weather, pass_time=self._pass)
        return MoverBench(objects, clock=self.clock, key=KEY if sealed else None)

    def _try(self, work, *arguments, **options):
        """Whether it was done; any error that is not one of ours, or a death that was asked for, is a bug."""
        try:
            work(*arguments, **options)
        except TidegateError:
            return False
        except RuntimeError as error:
            assert "ProcessDied" in str(error)  # noqa: PT017  everything else is the failure looked for
            return False
        return True

    def _blocks(self):
        return dict(StoredVolume(self.store, VOLUME).block_sizes())

    def _unfinished(self):
        volume = StoredVolume(self.store, VOLUME)
        return [name for name in volume.backup_names() if volume.backup_cfg(name).in_progress]

    def _source(self, letters, *, tree=False):
        self.count += 1
        path = self.path / f"source-{self.count}"
        if tree:
            path.mkdir()
            (path / "file").write_text(letters)
        else:
            with path.open("wb") as file:
                file.truncate(len(letters) * BLOCK)
                for offset, block in content_of(letters).items():
                    file.seek(offset)
                    file.write(block)
        name = f"backup-{self.count}"
        self.sources[name] = (letters, path, VolumeKind.DIRECTORY if tree else VolumeKind.IMAGE)
        return name

    def _upload(self, name, **options):
        _, path, kind = self.sources[name]
        self._pass(1)
        if self._try(self._bench(**options).upload, path, name, kind):
            self.promised.add(name)

    @rule(letters=LETTERS, sealed=st.booleans(), tree=st.booleans())
    def upload(self, letters, sealed, tree):
        self._upload(self._source(letters, tree=tree), sealed=sealed)

    @rule(letters=LETTERS, sealed=st.booleans(), writes=st.integers(0, 10))
    def upload_that_dies(self, letters, sealed, writes):
        self._upload(self._source(letters), sealed=sealed, dies_after=writes)
        self._pass(EXPIRY.total_seconds() * 2)  # the dead one's lock

    @rule(letters=LETTERS, others=LETTERS)
    def two_uploads_at_once(self, letters, others):
        names = [self._source(letters), self._source(others)]
        threads = [threading.Thread(target=self._upload, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    @precondition(lambda self: self.sources)
    @rule(data=st.data(), sealed=st.booleans())
    def the_same_upload_again(self, data, sealed):
        self._upload(data.draw(st.sampled_from(sorted(self.sources))), sealed=sealed)

    @precondition(lambda self: self.sources)
    @rule(data=st.data(), writes=st.none() | st.integers(0, 6))
    def remove(self, data, writes):
        names = data.draw(st.lists(st.sampled_from(sorted(self.sources)), max_size=2, unique=True))
        self.promised.difference_update(names)
        blocks = self._blocks()
        self._try(self._bench(dies_after=writes).remove, *names)
        # Whoever has begun may use any of them: also blocks that nobody names yet.
        assert self._blocks() == blocks or not self._unfinished()
        if writes is not None:
            self._pass(EXPIRY.total_seconds() * 2)

    @rule()
    def power_cut(self):
        """All that nobody made durable is gone, and so is everybody who worked."""
        self.store.cut_power()
        self._pass(EXPIRY.total_seconds() * 2)

    @rule()
    def days_pass(self):
        """Who has not finished by now never will."""
        self._pass(BEGUN_DEAD_AFTER.total_seconds() * 2)

    @rule(data=st.data(), damage=st.sampled_from(["gone", "empty", "rotten"]))
    def a_block_is_damaged(self, data, damage):
        volume = StoredVolume(self.store, VOLUME)
        names = sorted(name for name, _ in volume.block_sizes())
        if not names:
            return
        block = data.draw(st.integers(0, 10**6).map(lambda number: names[number % len(names)]))
        for name in volume.backup_names():
            if block in {ref.checksum for ref in volume.backup_cfg(name).blocks}:
                self.hurt.add(name)
        key = block_key(VOLUME, block)
        if damage == "gone":
            self.store.delete(key)
        else:
            other = compress(b"x" * BLOCK, Compression.LZ4)
            self.store.put(key, b"" if damage == "empty" else other)
        if damage == "rotten":
            self.rotten.add(block)

    @rule(seed=st.integers(0, 10**6), one_in=st.sampled_from([2, 5, 15, 40]))
    def bad_weather(self, seed, one_in):
        self.weather = Weather(seed, one_in=one_in, troubles=TROUBLES)

    @rule()
    def clean_up(self):
        """Fair weather: what nobody finished can be removed, and then no block is left that nobody needs."""
        self.weather = None
        self._pass(EXPIRY.total_seconds() * 2)
        volume = StoredVolume(self.store, VOLUME)
        self._bench().remove(*sorted(volume.backup_names()), only_unfinished=True)
        cfgs = [volume.backup_cfg(name) for name in volume.backup_names()]
        assert not [cfg.name for cfg in cfgs if cfg.in_progress]
        needed = {ref.checksum for cfg in cfgs if cfg.name not in self.hurt for ref in cfg.blocks}
        assert needed <= {name for name, _ in volume.block_sizes()}
        assert {name for name, _ in volume.block_sizes()} <= {ref.checksum for cfg in cfgs for ref in cfg.blocks}

    # Drawn from all that were asked for: which of them are done depends on threads, and draws must not.
    @precondition(lambda self: self.sources)
    @rule(data=st.data())
    def restore(self, data):
        self._restore(data.draw(st.sampled_from(sorted(self.sources))))

    def verify_and_restore_everything(self):
        """Fair weather: a verification finds nothing but what was damaged on purpose, and all the rest comes back."""
        volume = StoredVolume(self.store, VOLUME, key=EncryptionKey.parse(KEY))
        if not volume.is_there():
            return
        verdict = Verification(percent=100, now=self.clock.now()).volume(volume)
        assert verdict.problems == []
        assert verdict.orphans == 0
        good = {backup.backup for backup in verdict.backups if backup.whole}
        for backup in verdict.backups:
            blocks = {ref.checksum for ref in volume.backup_cfg(backup.backup).blocks}
            assert backup.whole or backup.backup in self.hurt or blocks & self.rotten, backup.problems
        for name in sorted(good):
            assert self._restore(name)

    def _restore(self, name):
        """Whether it came back, and then exactly."""
        _, source, kind = self.sources[name]
        self.count += 1
        back = self.path / f"back-{self.count}"
        if self._try(self._bench(sealed=True).download, back, name, kind):
            same = picture(back) == picture(source) if kind is VolumeKind.DIRECTORY else _same_bytes(back, source)
            assert same, name
            return True
        assert not back.exists()
        return False

    # What must stay true.

    @invariant()
    def every_finished_backup_is_whole(self):
        volume = StoredVolume(self.store, VOLUME, key=EncryptionKey.parse(KEY))
        cfgs = {name: volume.backup_cfg(name) for name in volume.backup_names()}
        finished = {name for name, cfg in cfgs.items() if not cfg.in_progress}
        assert self.promised <= finished
        for name in finished - self.hurt:
            if self.rotten & {ref.checksum for ref in cfgs[name].blocks}:
                continue  # nothing but reading it tells that it is not what it should be
            blocks = {ref.offset: volume.read_block(ref, cfgs[name]) for ref in cfgs[name].blocks}
            letters, _, kind = self.sources[name]
            assert kind is VolumeKind.DIRECTORY or blocks == content_of(letters)
        promised = [cfgs[name].snapshot_created_at for name in self.promised]
        assert not promised or volume.volume_cfg().last_backup_at >= max(promised)


def _same_bytes(one, other):
    return one.read_bytes() == other.read_bytes()


Stores.TestCase.settings = settings(
    max_examples=12, stateful_step_count=12, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
TestStores = Stores.TestCase

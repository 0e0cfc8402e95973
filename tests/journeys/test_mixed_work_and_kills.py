"""Two hundred kills of servers and of what they start, in the middle of all kinds of work: nothing promised is lost.

TIDEGATE_MIXED_KILLS says how many for each of two seeds: one that is always the same, and a fresh one. The seed of a
run names a file in its directory, which a failure keeps.
"""

import json
import os
import random
import secrets
import shutil
from collections import defaultdict
from hashlib import sha256

import httpx2
import pytest

from tidegate.datapath.leftovers import BEGUN_DEAD_AFTER
from tidegate.format.cfgs.lock_file import EXPIRY
from tidegate.testing.machine.process_family import ProcessFamily
from tidegate.testing.stores.recorded_writes import grow_old

KILLS = int(os.environ.get("TIDEGATE_MIXED_KILLS", "100"))
NAMESPACES = ("crm", "shop", "wiki")
FILES = ("a.txt", "b.bin", "deep/c.bin")
MIB = 1024 * 1024
# Fewer would prove nothing: all that was left had failed or been deleted.
LEAST_GOOD = 3
# The longest that the test listens for the next change: then nothing moves, and it kills what there is.
SILENCE_SECONDS = 1.0
# A longer queue would only mean that most kills meet backups that have not begun.
MOST_UNFINISHED = 4
MOST_KEPT = 10
PATIENCE = "400s"


class Volumes:
    """A tree and an image in each namespace, and every version that each of their files ever had."""

    def __init__(self, home, chance):
        self.home = home
        self.chance = chance
        self.versions = defaultdict(list)
        for namespace in NAMESPACES:
            (home / namespace / "docs" / "deep").mkdir(parents=True)
            for name in self.names(namespace):
                self._replace(name)

    @staticmethod
    def names(namespace):
        return [f"{namespace}/disk", *(f"{namespace}/docs/{file}" for file in FILES)]

    def change(self, namespace):
        for name in self.names(namespace):
            if self.chance.random() < 0.6:
                self._replace(name)

    def now(self, namespaces):
        """How many versions each file has had."""
        return {name: len(self.versions[name]) for namespace in namespaces for name in self.names(namespace)}

    def assert_restored(self, place, since, upto, about):
        """Each file below `place` is one of the versions that it had between these two moments."""
        for name, first in since.items():
            body = (place / name).read_bytes()
            allowed = self.versions[name][first - 1 : upto[name]]
            assert sha256(body).hexdigest() in allowed, (name, about)

    def _replace(self, name):
        path = self.home / name
        size = self.chance.choice([7 * MIB, 12 * MIB]) if name.endswith("/disk") else self.chance.randrange(1, MIB)
        head = self.chance.randbytes(size // 2)  # the other half is the same in each version of this size
        body = head + random.Random(name).randbytes(size - len(head))
        fresh = path.with_name(f".{path.name}.fresh")
        fresh.write_bytes(body)
        self.versions[name].append(sha256(body).hexdigest())
        # Beside the tree, so that a backup never meets half a file: renames are whole.
        fresh = fresh.rename(self.home / f"fresh-{secrets.token_hex(4)}")
        fresh.replace(path)


class MixedWork:
    """What is asked of the servers, and what they accepted."""

    def __init__(self, server, home, chance):
        self.server, self.home, self.chance = server, home, chance
        self.family = ProcessFamily("TIDEGATE_DATA_DIR", str(server.state))
        self.store = home / "store"
        self.volumes = Volumes(home / "volumes", chance)
        self.backups = {}  # name: what the files were when it was asked for
        self.ended = {}  # and by when it had ended
        self.deleted, self.restores, self.verifications, self.systems = set(), {}, set(), set()
        self.count = 0

    def prepare(self):
        self.store.mkdir()
        for setting, value in (("load-concurrency", '{"globalConfig": 4}'), ("concurrent-backups", "3")):
            self.server.tidegate("setting", "set", setting, value)
        self.server.tidegate("target", "create", "disk", str(self.store))
        for namespace in NAMESPACES:
            place = self.volumes.home / namespace
            self.server.tidegate("volume", "create", f"{namespace}/docs", "--directory", str(place / "docs"))
            self.server.tidegate("volume", "create", f"{namespace}/disk", "--image", str(place / "disk"))

    # What is asked.

    def ask(self):
        """A backup, unless some are waiting, and up to two other things; each is accepted, or refused with a reason."""
        with self.server.client() as client:
            backups = client.get("/v1/backups").json()
            final = {backup["metadata"]["name"] for backup in backups["data"] if is_final(backup)}
            for name in final:
                self.ended.setdefault(name, self.volumes.now(NAMESPACES))
            since = f"backups:{backups['resourceVersion']}"
            if len(backups["data"]) - len(final) < MOST_UNFINISHED:
                self._backup(client)
            others = [self._delete, self._restore, self._verify, self._sync, self._system_backup]
            for other in self.chance.sample(others, self.chance.choice([0, 1, 1, 2])):
                other(client)
        return since

    def _name(self, kind):
        self.count += 1
        return f"{kind}-{self.count}"

    def _accepted(self, response):
        if response.status_code in {409, 422}:  # it says why it may not be, and it is not
            assert response.json()["detail"]
            return False
        response.raise_for_status()
        return True

    def _backup(self, client):
        name = self._name("backup")
        namespaces = self.chance.choice([NAMESPACES[:1], NAMESPACES[1:2], NAMESPACES[2:], NAMESPACES[:2]])
        self.volumes.change(self.chance.choice(namespaces))
        since = self.volumes.now(namespaces)
        spec = {
            "includedNamespaces": namespaces,
            "onInterruption": self.chance.choice(["Fail", "Requeue"]),
            "priority": self.chance.randrange(-2, 3),
        }
        if self._accepted(client.post("/v1/backups", json={"metadata": {"name": name}, "spec": spec})):
            self.backups[name] = since

    def _good(self, client):
        items = client.get("/v1/backups").json()["data"]
        good = {item["metadata"]["name"] for item in items if item["status"]["phase"] == "Completed"}
        return sorted((good & self.backups.keys()) - self.deleted)

    def _delete(self, client):
        """One of the good, or one that runs."""
        names = sorted(self.backups.keys() - self.deleted)
        if not names or (len(names) < MOST_KEPT and self.chance.random() < 0.5):
            return
        name = self.chance.choice(names)
        if self._accepted(client.delete(f"/v1/backups/{name}")):
            self.deleted.add(name)

    def _restore(self, client):
        if not (good := self._good(client)):
            return
        name, source = self._name("restore"), self.chance.choice(good)
        place = self.home / "restored" / name
        spec = {"backupName": source, "destination": str(place)}
        if self._accepted(client.post("/v1/restores", json={"metadata": {"name": name}, "spec": spec})):
            self.restores[name] = (source, place)

    def _verify(self, client):
        if good := self._good(client):
            name, spec = self._name("verification"), {"backupName": self.chance.choice(good)}
            if self._accepted(client.post("/v1/verifications", json={"metadata": {"name": name}, "spec": spec})):
                self.verifications.add(name)

    def _sync(self, client):
        self._accepted(client.post("/v1/backuptargets/disk?action=backupTargetSync", json={}))

    def _system_backup(self, client):
        name = self._name("system")
        spec = {"volumeBackupPolicy": self.chance.choice(["disabled", "if-not-present"])}
        if self._accepted(client.post("/v1/systembackups", json={"metadata": {"name": name}, "spec": spec})):
            self.systems.add(name)

    # What is killed.

    def let_it_work(self, since):
        """Until a few things have changed, or nothing does; now and then until a backup is over."""
        names = sorted(self.backups.keys() - self.deleted - self.ended.keys())
        if names and self.chance.random() < 0.3:
            self.server.run("backup", "wait", self.chance.choice(names), "--timeout", "20s")
            return
        left = self.chance.randrange(14)
        with self.server.client() as client:
            client.timeout = SILENCE_SECONDS
            try:
                with client.stream("GET", "/v1/events", params={"since": since}) as stream:
                    lines = stream.iter_lines() if left else ()
                    for line in lines:
                        left -= line.startswith("data:")
                        if left <= 0:
                            return
            except httpx2.TimeoutException:
                return

    def kill(self):
        """The server, what it has started, or both at once; how many kills it was."""
        server = self.server.process.pid
        children = [member for member in self.family.members() if member != server]
        match self.chance.randrange(4):
            case 0:
                self.server.kill()
                self._start_again()
                return 1
            case 1:
                self.server.kill()
                killed = self.family.kill(children)
                self._start_again()
                return 1 + killed
            case _:
                return self.family.kill(self.chance.sample(children, min(1, len(children))))

    def _start_again(self):
        self.family.wait_until_gone()
        # All who had a lock are dead; the time in which others must believe in it passes.
        for lock in self.store.rglob("*.lck"):
            grow_old(lock.parent, seconds=EXPIRY.total_seconds() * 2)
        self.server.start()

    # What must be true at the end.

    def settle(self):
        """All that was accepted is over."""
        for name in sorted(self.deleted):
            done = self.server.run("backup", "delete", name, "--yes", "--wait", "--timeout", PATIENCE)
            assert done.returncode in {0, 5}, done.stderr
        for noun, names in (
            (("backup",), self.backups.keys() - self.deleted),
            (("restore",), self.restores),
            (("verify",), self.verifications),
            (("system", "backup"), self.systems),
        ):
            if names:
                done = self.server.run(*noun, "wait", *sorted(names), "--timeout", PATIENCE)
                assert done.returncode in {0, 1, 3}, done.stderr

    def check(self):
        """What was promised is there, and nothing is left over."""
        backups = {item["metadata"]["name"]: item for item in self._items("backups")}
        assert backups.keys() >= self.backups.keys() - self.deleted
        assert not backups.keys() & self.deleted
        assert {item["metadata"]["name"] for item in self._items("restores")} == self.restores.keys()
        everything = [item for kind in ("backups", "restores", "verifications") for item in self._items(kind)]
        assert [item["metadata"]["name"] for item in everything if not is_final(item)] == []

        assert "".join(self.server.strange_words) == ""
        self._check_restores()
        self._check_store()
        good = [name for name in self.backups.keys() & backups.keys() if self._is_good(backups[name])]
        for name in good:
            place = self.home / "proof"
            self.server.tidegate("restore", "create", "--from-backup", name, "--to", str(place), "--wait")
            upto = self.ended.get(name, self.volumes.now(NAMESPACES))
            self.volumes.assert_restored(place, self.backups[name], upto, name)
            shutil.rmtree(place)
        return len(good)

    @staticmethod
    def _is_good(item):
        return item["status"]["phase"] == "Completed"

    def _check_restores(self):
        for item in self._items("restores"):
            name = item["metadata"]["name"]
            if name in self.restores and self._is_good(item):
                source, place = self.restores[name]
                upto = self.ended.get(source, self.volumes.now(NAMESPACES))
                self.volumes.assert_restored(place, self.backups[source], upto, name)
        self._check_half_restores(self.home / "restored")
        for room in ("scratch", "hooks-running"):
            assert list((self.server.state / room).glob("*")) == []

    def _check_half_restores(self, place):
        """What a killed mover left beside a destination is named, and the next restore to there removes it."""
        halves = [path for path in place.rglob("*") if ".tidegate-" in path.name]
        downloads = [*self._items("podvolumerestores"), *self._items("datadownloads")]
        said = " ".join(download["status"].get("message") or "" for download in downloads)
        for half in halves:
            restored = half.parent / half.name.removeprefix(".").partition(".tidegate-")[0]
            assert f"{half.parent}/.{restored.name}.tidegate-*" in said
            source, whole = self.restores[half.relative_to(place).parts[0]]
            again = ("--to", str(whole), "--existing-data", "overwrite", "--wait", "--timeout", PATIENCE)
            done = self.server.run("restore", "create", "--from-backup", source, *again)
            assert done.returncode in {0, 5}, done.stderr  # 5: the backup has been deleted since
            assert done.returncode == 5 or not half.exists()

    def _check_store(self):
        # Later work clears away what the dead left, once it is so old that they must be dead.
        grow_old(self.store, seconds=2 * BEGUN_DEAD_AFTER.total_seconds())
        after_all = ("after-all", "--wait", "--timeout", PATIENCE)
        self.server.tidegate("backup", "create", *after_all)
        # What a dead mover had begun only keeps blocks from being deleted, so it is a delete that clears it away.
        self.server.tidegate("backup", "delete", "--yes", *after_all)
        self.server.tidegate("system", "backup", "create", *after_all)
        url = f"file://{self.store}"
        self.server.tidegate("target", "sync", "disk", "--wait", "--timeout", PATIENCE)
        self.server.tidegate("store", "verify", url, "--read-data", "100")
        unfinished = [cfg for cfg in self.store.rglob("backup_*.cfg") if not json.loads(cfg.read_text())["CreatedTime"]]
        assert unfinished == []
        assert [path.name for path in self.store.rglob("*") if path.suffix == ".lck" or ".tmp." in path.name] == []

    def _items(self, plural):
        with self.server.client() as client:
            return client.get(f"/v1/{plural}").json()["data"]


def is_final(item):
    return item["status"]["phase"] in {"Completed", "PartiallyFailed", "Failed", "FailedValidation", "Canceled"}


@pytest.fixture(params=[20261118, None], ids=["fixed seed", "fresh seed"])
def work(request, server, tmp_path):
    seed = request.param or secrets.randbelow(2**32)
    (tmp_path / f"seed-{seed}").touch()
    work = MixedWork(server, tmp_path, random.Random(seed))
    work.prepare()
    return work


def test_two_hundred_kills_in_the_middle_of_mixed_work_lose_nothing_and_leave_nothing(work):
    killed = 0

    while killed < KILLS:
        since = work.ask()
        work.let_it_work(since)
        killed += work.kill()
    work.settle()

    assert work.check() >= LEAST_GOOD

"""A store in a directory, call by call: what would a power cut have taken when a backup became visible?

The real program backs up while `strace` writes its calls down, and the calls are replayed on the meanest disk that is
allowed: content is kept only once its file was synced, a name only once its directory was, and everything once the
whole file system was. Whatever is visible may also happen to be kept. A sync counts when it returns, a name when it is
asked for.
"""

import posixpath
import random
import re
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
BLOCK = 2 * 1024 * 1024
CALLS = "openat,pwrite64,write,fsync,fdatasync,syncfs,renameat,renameat2,linkat,unlinkat,mkdirat"
SYNCS = ("fsync", "fdatasync", "syncfs")
LINE = re.compile(r"(\d+) +(?:<\.\.\. (?P<resumed>\w+) resumed>|(?P<call>\w+)\()(?P<rest>.*)")
HANDLE = re.compile(r"(?:\d+|AT_FDCWD)<([^>]*)>")
PLACED_NAME = re.compile(r'(?:\d+|AT_FDCWD)<([^>]*)>, "([^"]*)"')


class MeanDisk:
    """Knows which names there are, and what of them a power cut would take."""

    def __init__(self):
        self.names, self.lost_names, self.lost_contents = {}, set(), set()
        self.inodes = 0

    def make(self, path):
        self.inodes += 1
        self.name(path, self.inodes)

    def name(self, path, inode):
        self.names[path] = inode
        self.lost_names.add(path)

    def sync(self, call, path):
        if call == "syncfs":
            self.lost_names, self.lost_contents = set(), set()
        self.lost_contents.discard(self.names.get(path))
        self.lost_names = {name for name in self.lost_names if posixpath.dirname(name) != path}

    def would_lose(self, path):
        parents = [path]
        while parents[-1] != "/":
            parents.append(posixpath.dirname(parents[-1]))
        return self.names[path] in self.lost_contents or not self.lost_names.isdisjoint(parents)

    def play(self, call, rest):
        handles, placed = HANDLE.findall(rest), ["/".join(pair) for pair in PLACED_NAME.findall(rest)]
        if (call == "openat" and "O_CREAT" in rest) or call == "mkdirat":
            self.make(placed[0])
        elif call in {"write", "pwrite64"}:
            self.lost_contents.add(self.names.get(handles[0]))
        elif call in {"linkat", "renameat", "renameat2"}:
            self.name(placed[1], self.names[placed[0]])


def calls_in(log):
    """(call, arguments) in the order in which they count."""
    waiting = {}
    for line in log:
        if not (found := LINE.match(line)) or "= -1 " in line:
            continue
        call, unfinished = found["call"], found["rest"].endswith("<unfinished ...>")
        if call in SYNCS and unfinished:
            waiting[found[1]] = found["rest"]
        elif found["resumed"] in SYNCS:
            yield found["resumed"], waiting.pop(found[1])
        elif call:
            yield call, found["rest"]


def commits(log, root):
    """For each finished backup, what a power cut in its first instant would take of it; and the disk at the end."""
    disk, taken = MeanDisk(), []
    for call, rest in calls_in(log):
        if root not in rest:
            continue
        if call.startswith("rename") and "/backups" in rest and re.search(r', "backup_[^"]*\.cfg"', rest):
            cfg = "/".join(PLACED_NAME.findall(rest)[0])
            taken.append([path for path in disk.names if path.endswith(".blk") and disk.would_lose(path)])
            taken[-1] += [cfg] * (disk.names[cfg] in disk.lost_contents)
        if call in SYNCS:
            disk.sync(call, HANDLE.findall(rest)[0])
        else:
            disk.play(call, rest)
    return taken, disk


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The calls of two backups of an image that changed in between, and the root of their store."""
    home = tmp_path_factory.mktemp("recorded")
    (home / "store").mkdir()
    log = []
    for number in (1, 2):
        blocks = [random.Random(seed).randbytes(BLOCK) for seed in (1, 2, 3 * number)]
        (home / "image").write_bytes(b"".join(blocks))
        words = ["-m", "tidegate", "store", "backup", "image", "--to", "store", "--volume", "shop"]
        trace = ["strace", "-f", "-y", "-s", "256", "-e", f"trace={CALLS}", "-o", str(home / "calls")]
        done = subprocess.run([*trace, sys.executable, *words], cwd=home, capture_output=True, timeout=120, check=False)
        if done.returncode:
            pytest.skip(f"strace may not trace here: {done.stderr[-200:]!r}")
        log += (home / "calls").read_text(errors="replace").splitlines()
    return log, str(home / "store")


def test_when_a_backup_becomes_visible_in_a_directory_no_power_cut_takes_any_of_it(recorded):
    taken, disk = commits(*recorded)

    blocks = [path for path in disk.names if path.endswith(".blk")]
    assert (len(blocks), taken) == (4, [[], []])
    assert not [path for path in disk.names if path.endswith(".cfg") and disk.would_lose(path)]


def test_the_replay_finds_out_a_store_that_does_not_sync(recorded):
    log, root = recorded
    taken, _ = commits([line for line in log if not re.search(r"\b(fsync|fdatasync|syncfs)\b", line)], root)

    assert [len(lost) for lost in taken] == [4, 5]

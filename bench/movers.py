"""Our own side."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from types import MappingProxyType

from bench.samples import set_aside


class Ours:
    """Jobs carried out by `tidegate mover` processes; their start is measured too."""

    def __init__(self, place: Path, *, url: str = "", credentials: Mapping[str, str] = MappingProxyType({})) -> None:
        self._store, self._maps = place / "store", place / "maps"
        self._target = {"url": url or f"file://{self._store}", "credentials": dict(credentials)}
        self._numbers = count(1)
        self._last = ""
        self.memory_mib = 0.0

    def fresh(self) -> None:
        """An empty store in the directory; nothing is remembered of the last one."""
        set_aside(self._store)
        self._store.mkdir()

    def upload(self, kind: str, path: Path, *, forget: bool = False) -> float:
        """With `forget` nothing is known about the last time: everything is read."""
        if forget:
            shutil.rmtree(self._maps, ignore_errors=True)
        self._last = f"backup-{next(self._numbers):016x}"
        return self._run(
            {
                "action": "upload",
                "store_volume": path.name,
                "store_backup": self._last,
                "volume_kind": kind,
                "path": str(path),
                "snapshot_name": f"snapshot-{self._last}",
                "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            }
        )

    def download(self, kind: str, path: Path, volume: str) -> float:
        set_aside(path)
        job = {"action": "download", "store_volume": volume, "store_backup": self._last}
        return self._run(job | {"volume_kind": kind, "path": str(path)})

    def _run(self, asked: Mapping[str, str]) -> float:
        job = {**asked, "target": self._target}
        environment = os.environ | {"XDG_CACHE_HOME": str(self._maps)}
        # As an installed program has it: the sources are compiled once.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        began = time.monotonic()
        with subprocess.Popen(
            [sys.executable, "-m", "tidegate", "mover"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        ) as mover:
            if mover.stdin is None or mover.stdout is None:
                raise RuntimeError("no pipes")
            mover.stdin.write(json.dumps(job).encode() + b'\n{"type":"go"}\n')
            mover.stdin.flush()
            said = []
            for line in mover.stdout:
                said.append(line)
                self.memory_mib = max(self.memory_mib, _peak_mib(mover.pid) + _helpers_mib(mover.pid))
            took = time.monotonic() - began
            mover.stdin.close()
        last = json.loads(said[-1])
        if last["type"] != "result":
            raise RuntimeError(str(last))
        return took


def _peak_mib(pid: int) -> float:
    """The most that the process has had so far, asked at each of its reports; 0 once it is gone.

    Not `ru_maxrss`: that begins with the memory of the process that started it, and this one holds the samples.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0.0)


def _helpers_mib(pid: int) -> float:
    """What its own child processes have now and do not share with it."""
    total = 0
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in children.read_text().split():
                memory = Path(f"/proc/{child}/smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in memory if line.startswith("Private_"))
        except OSError:  # one of them is gone
            continue
    return total / 1024

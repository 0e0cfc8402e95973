"""The peer. RESTIC names the program."""

import math
import os
import shutil
import subprocess
import time
from pathlib import Path

from bench.samples import set_aside

RESTIC = os.environ.get("RESTIC") or shutil.which("restic")


def restic_version() -> str:
    """One line for the head of the output."""
    if RESTIC is None:
        return "restic was NOT found: no ratios against it. Put it on PATH or name it in RESTIC."
    return subprocess.run([RESTIC, "version"], check=True, capture_output=True, text=True).stdout.strip()


class Restic:
    """The peer, as its users get it; NaN if it is not there."""

    def __init__(self, place: Path) -> None:
        self._repository, self._cache = place / "restic", place / "restic-cache"

    def fresh(self) -> None:
        set_aside(self._repository)
        set_aside(self._cache)
        self._run("init")

    def backup(self, path: Path, *options: str) -> float:
        return self._run("backup", *options, path.name, at=path.parent)

    def restore(self, path: Path) -> float:
        set_aside(path)
        return self._run("restore", "latest", "--target", str(path))

    def _run(self, *arguments: str, at: Path | None = None) -> float:
        if RESTIC is None:
            return math.nan
        environment = os.environ | {"RESTIC_PASSWORD": "bench", "RESTIC_CACHE_DIR": str(self._cache)}
        began = time.monotonic()
        subprocess.run(
            [RESTIC, "--quiet", "--repo", str(self._repository), *arguments],
            check=True,
            capture_output=True,
            env=environment,
            cwd=at,
        )
        return time.monotonic() - began

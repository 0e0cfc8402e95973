"""How long a person waits for the command line: help, a list, and a server that is ready."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.rows import Row
from tidegate.testing.machine.server_process import ServerProcess

TIMES = 9


def run() -> Sequence[Row]:
    bare = _seconds([sys.executable, "-c", "pass"])
    help_text = _seconds([sys.executable, "-m", "tidegate", "--help"])
    with tempfile.TemporaryDirectory() as place:
        server = ServerProcess(Path(place))
        began = time.monotonic()
        server.start()
        ready = time.monotonic() - began
        listed = _seconds([sys.executable, "-m", "tidegate", "backup", "get"], environment=server.environment)
        server.stop()
    return [
        Row("python alone", bare, "s"),
        Row("tidegate --help", help_text, "s", target=0.25, better="less"),
        Row("tidegate backup get, empty", listed, "s"),
        Row("server, from start to ready", ready, "s"),
    ]


def _seconds(command: Sequence[str], environment: dict[str, str] | None = None) -> float:
    """The median of several runs; the first one, which warms the file cache, does not count."""
    taken = []
    for _ in range(TIMES + 1):
        began = time.monotonic()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        taken.append(time.monotonic() - began)
    return median(taken[1:])

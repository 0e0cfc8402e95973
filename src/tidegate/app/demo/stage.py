"""Where the story plays: a temporary directory, a server in it, and a hand that types commands."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tidegate.cli.configuration import load_configuration
from tidegate.cli.http.client import Client
from tidegate.cli.http.discovery import find_server
from tidegate.errors import ServerUnreachable

_START_SECONDS = 30


@dataclass(frozen=True)
class Stage:
    """The directory and what runs in it."""

    root: Path

    @property
    def data(self) -> Path:
        """The applications' data."""
        return self.root / "data"

    @property
    def store(self) -> Path:
        """The backup target."""
        return self.root / "store"

    @property
    def state(self) -> Path:
        """The server's own directory."""
        return self.root / "state"

    def type(self, *words: str) -> None:
        """Show a command as a person would type it, run it, show what it says; raises if it fails."""
        sys.stdout.write(f"\n$ tidegate {' '.join(words)}\n")
        sys.stdout.flush()
        environment = {**os.environ, "TIDEGATE_DATA_DIR": str(self.state)}
        subprocess.run([sys.executable, "-m", "tidegate", *words], env=environment, check=True)  # noqa: S603

    def client(self) -> Client:
        """A connection to the stage's server."""
        return Client(find_server(load_configuration({"data_dir": str(self.state)})))


@contextlib.contextmanager
def a_stage() -> Iterator[Stage]:
    """A stage with a running server; both are gone afterwards, also after Ctrl-C."""
    root = Path(tempfile.mkdtemp(prefix="tidegate-demo-"))
    stage = Stage(root)
    try:
        stage.store.mkdir()
        with _a_server(stage):
            yield stage
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextlib.contextmanager
def _a_server(stage: Stage) -> Iterator[None]:
    log = stage.root / "server.log"
    command = [sys.executable, "-m", "tidegate", "server", "--data-dir", str(stage.state), "--listen", "127.0.0.1:0"]
    with log.open("wb") as output:
        # A session of its own: Ctrl-C ends the story, and the story ends its server.
        server = subprocess.Popen(command, stderr=output, stdout=output, start_new_session=True)  # noqa: S603
    try:
        _wait_for(stage, server, log)
        yield
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_for(stage: Stage, server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        if (stage.state / "server.json").exists():
            return
        time.sleep(0.05)
    raise ServerUnreachable("the demo's server did not start", hint=log.read_text()[-2000:])

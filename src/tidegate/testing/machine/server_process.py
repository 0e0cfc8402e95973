"""A real server process and the real command line, in a directory of the test's own."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2

from tidegate.app.machine.clock import SystemClock
from tidegate.app.processes.workshop import real_workshop
from tidegate.cli.context import CliContext
from tidegate.cli.environment import Environment
from tidegate.cli.root import assemble
from tidegate.model.kinds import KIND_BY_PLURAL

_PATIENCE_SECONDS = 60
FROM_THE_BEGINNING = ",".join(f"{plural}:0" for plural in KIND_BY_PLURAL)
"""Where the event stream of a server begins that has a new database."""


class ServerProcess:
    """`tidegate server` as a person starts it. Everything it writes is below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = root / "state"
        self.process: subprocess.Popen[bytes] | None = None
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TIDEGATE_")},
            "TIDEGATE_DATA_DIR": str(self.state),
            "HOME": str(root / "home"),
            "NO_COLOR": "1",
        }
        self.strange_words: list[str] = []
        """Lines of all its logs that are no records, such as those of a traceback."""
        self._log: list[dict[str, Any]] = []
        self._logged = threading.Condition()

    def start(self, *options: str) -> "ServerProcess":
        """Start it and return when it is ready."""
        command = [sys.executable, "-m", "tidegate", "server", "--listen", "127.0.0.1:0", "--log-format", "json"]
        self._log = []  # a new one: the reader of an earlier process may still be at work on its own
        self.process = subprocess.Popen(  # noqa: S603
            [*command, *options], env=self.environment, cwd=self.root, stderr=subprocess.PIPE, start_new_session=True
        )
        threading.Thread(target=self._read_log, args=(self.process, self._log), daemon=True).start()
        self.wait_for_log("server ready")
        return self

    def wait_for_log(self, event: str, **about: str) -> dict[str, Any]:
        """The record of this event, now or when it comes; raises AssertionError with the log if it does not."""
        wanted = {"event": event, **about}

        def found() -> dict[str, Any] | None:
            ends = ({"event": "end of log"}, wanted)
            return next((record for record in self._log if any(end.items() <= record.items() for end in ends)), None)

        with self._logged:
            record = self._logged.wait_for(found, _PATIENCE_SECONDS)
        if not record or record["event"] != event:
            raise AssertionError(f"no {wanted} in the log: {self._log}")
        return record

    def changes(self, *plurals: str) -> Iterator[dict[str, Any]]:
        """Every stored change of these kinds, or of all, from the beginning on; each kind in its order."""
        query = {"kinds": ",".join(plurals), "since": FROM_THE_BEGINNING}
        with self.client() as client, client.stream("GET", "/v1/events", params=query) as stream:
            for line in stream.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))

    def history(self, *plurals: str) -> list[dict[str, Any]]:
        """Every stored change of these kinds so far, in the order of the writes: its database counts them."""
        with self.client() as client:
            pages = [client.get(f"/v1/{plural}").json() for plural in plurals]
        left = {str(one["metadata"].get("resourceVersion", "")) for page in pages for one in page["data"]} - {""}
        seen = []
        for resource in self.changes(*plurals):
            seen.append(resource)
            left.discard(resource["metadata"]["resourceVersion"])
            if not left:
                break
        return sorted(seen, key=lambda one: int(one["metadata"]["resourceVersion"]))

    def wait_for_phase(self, kind: str, *phases: str) -> list[dict[str, Any]]:
        """What has changed up to the first time that something of this kind has one of these phases."""
        seen = []
        for resource in self.changes():
            seen.append(resource)
            if resource["kind"] == kind and resource["status"].get("phase") in phases:
                return seen
        raise AssertionError("the events ended")

    def kill(self) -> None:
        """As a power cut does it, but for the server only: its movers must notice by themselves."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to stop, and return its exit code."""
        return self._end(signal.SIGTERM)

    @property
    def url(self) -> str:
        """Where it says it is."""
        return str(json.loads((self.state / "server.json").read_text())["url"])

    @property
    def token(self) -> str:
        """Of its administrator."""
        return (self.state / "admin.token").read_text().strip()

    def client(self) -> httpx2.Client:
        """A plain HTTP client with the token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=_PATIENCE_SECONDS)

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """A command, whatever comes of it.

        The command line of a person, from the words to the exit code, but inside this process: starting Python and
        loading the program takes longer than nearly everything that a command does.
        """
        cli = CliContext(SystemClock(), Environment(self.environment, self.root), workshop=real_workshop)
        out, err, code = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                assemble(cli, words)(list(words), prog_name="tidegate")
            except SystemExit as end:
                code = int(end.code or 0)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def run_process(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """The same in a process of its own: for commands that are processes, and where only a process shows it."""
        return subprocess.run(  # noqa: S603
            [sys.executable, "-m", "tidegate", *words],
            env=self.environment,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def tidegate(self, *words: str) -> str:
        """A command that must succeed; what it said on standard output."""
        done = self.run(*words)
        if done.returncode != 0:
            raise AssertionError(f"tidegate {' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def get(self, *words: str) -> Any:  # noqa: ANN401  # JSON
        """What a command shows, as JSON."""
        return json.loads(self.tidegate(*words, "-o", "json"))

    def _read_log(self, process: "subprocess.Popen[bytes]", log: list[dict[str, Any]]) -> None:
        """Keep the pipe empty, or a talkative server would stand still."""
        assert process.stderr is not None  # noqa: S101  # asked for at the start
        for line in process.stderr:
            with self._logged:
                log.append(self._record_in(line))
                self._logged.notify_all()
        process.stderr.close()
        with self._logged:
            log.append({"event": "end of log"})
            self._logged.notify_all()

    def _record_in(self, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if isinstance(record, dict):
            return record
        self.strange_words.append(line.decode(errors="replace"))
        return {"event": self.strange_words[-1]}

    def _end(self, number: signal.Signals) -> int:
        if self.process is None:
            return 0
        process, self.process = self.process, None
        process.send_signal(number)
        try:
            return process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"it did not stop; its last words: {self._log[-5:]}") from None

"""A small server that speaks the API's contract over real HTTP, and a way to run commands against it."""

import contextlib
import io
import json
import os
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tidegate.app.processes.workshop import real_workshop
from tidegate.cli.context import CliContext
from tidegate.cli.environment import Environment
from tidegate.cli.root import assemble
from tidegate.model.kinds import KIND_BY_NAME
from tidegate.model.labels import Selector
from tidegate.testing.clock import RushingClock
from tidegate.testing.mover_bench import no_wait

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TOKEN = "open-sesame"


@dataclass
class FakeServer:
    """Keeps resources as plain JSON. Every change is an event; streams replay them from any version."""

    url: str = ""
    resources: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    log: list[tuple[str, str | None, str]] = field(default_factory=list)
    requests: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    problems: deque[tuple[int, Any]] = field(default_factory=deque)
    """Answers to give instead of the next ones: (status, body)."""
    steps: deque[Callable[[], object]] = field(default_factory=deque)
    """What happens when a client begins to listen: one step per stream."""
    lingering: bool = False
    """Whether a deleted thing stays for a while, as with a finalizer."""
    queue: dict[str, Any] = field(default_factory=dict)
    """The status that a new backup gets."""
    answers: dict[tuple[str, str], tuple[int, Any]] = field(default_factory=dict)
    """What to say to (method, path) whenever it is asked: (status, body)."""
    changed: threading.Condition = field(default_factory=threading.Condition)
    closing: bool = False
    broken: int = 0

    def put(self, resource, **status):
        """Store a model or JSON, with these status fields, and tell those who listen."""
        wire = json.loads(json.dumps(resource if isinstance(resource, dict) else resource.to_wire()))
        with self.changed:
            metadata = wire["metadata"]
            metadata.setdefault("creationTimestamp", "2026-01-01T11:00:00Z")
            metadata["uid"] = metadata.get("uid") or f"uid-{wire['kind']}-{metadata['name']}"
            metadata["resourceVersion"] = version_at(plural_of(wire), len(self.log) + 1)
            wire["status"] = {**wire.get("status", {}), **status}
            key = (plural_of(wire), metadata.get("namespace", ""), metadata["name"])
            change = "MODIFIED" if key in self.resources else "ADDED"
            self.resources[key] = wire
            self._tell(change, wire)
        return wire

    def remove(self, plural, name, namespace=""):
        with self.changed:
            wire = self.resources.pop((plural, namespace, name))
            self._tell("DELETED", wire)

    def expire(self):
        """Tell those who listen that they missed something."""
        with self.changed:
            self._tell("expired", {})

    def break_streams(self):
        """End all streams, as a restart does."""
        with self.changed:
            self.broken += 1
            self.changed.notify_all()

    def next_news(self, position, broken):
        """Wait for what comes after `position` or for the end of the stream, at most for a while."""
        with self.changed:
            self.changed.wait_for(lambda: self.closing or self.broken > broken or len(self.log) > position, timeout=10)
            return self.log[position:], len(self.log), self.closing or self.broken > broken

    def move(self, wire, place):
        """Tell those who listen of another place in the queue; nothing is stored."""
        with self.changed:
            moved = {**wire, "status": {**wire["status"], "queuePosition": place}}
            self._tell("MODIFIED", moved)

    def after_looks(self, path, count, step):
        """Do this once a client has looked there so often, beside whatever else happens."""

        def waiting():
            with self.changed:
                looks = self.requests.count(("GET", path, {}, None)) + count
                self.changed.wait_for(
                    lambda: self.closing or self.requests.count(("GET", path, {}, None)) >= looks, timeout=10
                )
            step()

        threading.Thread(target=waiting, daemon=True).start()

    def when_listening(self, *steps):
        self.steps.extend(steps)

    def _tell(self, change, wire):
        self.log.append((change, plural_of(wire) if wire else None, json.dumps(wire, ensure_ascii=False)))
        self.changed.notify_all()


def plural_of(wire):
    return KIND_BY_NAME[wire["kind"]].plural


def version_at(plural, length):
    """What a client sees of a log of this length: text of one kind, which says nothing to it."""
    return f"{length:x}-of-{plural}"


def length_at(plural, version):
    """The same, read back; a version of another kind means nothing."""
    length, _, kind = version.partition("-of-")
    assert kind == plural, f"{version} is no version of {plural}"
    return int(length, 16)


def position_of(seen):
    return ",".join(f"{plural}:{version_at(plural, length)}" for plural, length in seen.items())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: FakeServer

    def log_message(self, *_):
        pass

    def answer(self, status, body=None, *, media_type="application/json"):
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def problem(self, status, code, detail, **more):
        body = {"type": "about:blank", "title": "x", "status": status, "code": code, "detail": detail, **more}
        self.answer(status, body, media_type="application/problem+json")

    def handle_any(self):
        state = self.server_state
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        url = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        with state.changed:
            state.requests.append((self.command, url.path, query, body))
            state.changed.notify_all()
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.problem(401, "Unauthenticated", "the token is not one that this server gave out")
        said = state.problems.popleft() if state.problems else state.answers.get((self.command, url.path))
        if said:
            return self.answer(*said)
        parts = url.path.strip("/").split("/")[1:]
        if parts == ["version"]:
            return self.answer(200, {"version": "9.9.9"})
        if parts == ["events"]:
            return self.stream(query)
        if len(parts) == 1:
            return self.list(parts[0], query) if self.command == "GET" else self.create(parts[0], query, body)
        key = (parts[0], parts[1] if len(parts) == 3 else "", parts[-1])
        return self.one(key, query, body)

    do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815  # the names that http.server looks for

    def list(self, plural, query):
        state = self.server_state
        with state.changed:
            selector = Selector.parse(query.get("labelSelector", ""))
            found = [
                wire
                for (kind, namespace, _), wire in sorted(state.resources.items())
                if kind == plural
                and query.get("namespace", namespace) == namespace
                and selector.holds_for(wire["metadata"].get("labels", {}))
            ]
            version = version_at(plural, len(state.log))
        start, limit = int(query.get("marker", 0)), int(query.get("limit", 1000))
        following = str(start + limit) if start + limit < len(found) else None
        page = {"limit": limit, "next": following}
        data = found[start : start + limit]
        self.answer(200, {"type": "collection", "data": data, "pagination": page, "resourceVersion": version})

    def create(self, plural, query, body):
        state = self.server_state
        metadata = body["metadata"]
        if (plural, metadata.get("namespace", ""), metadata["name"]) in state.resources:
            return self.problem(409, "AlreadyExists", f"{metadata['name']} is taken", hint="choose another name")
        if query.get("dryRun") == "true":
            return self.answer(200, {**body, "status": state.queue})
        return self.answer(201, state.put(body, **state.queue))

    def one(self, key, query, body):
        state = self.server_state
        if self.command == "PUT":
            return self.answer(200, state.put(body))
        if key not in state.resources:
            return self.problem(404, "NotFound", f"there is no {key[2]} among the {key[0]}")
        if self.command == "DELETE" and query.get("dryRun") != "true":
            if state.lingering:
                return self.answer(202, state.resources[key])
            plural, namespace, name = key
            state.remove(plural, name, namespace)
            return self.answer(204)
        return self.answer(200, state.resources[key])

    def stream(self, query):
        state = self.server_state
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            with state.changed:
                seen, broken = dict.fromkeys(query["kinds"].split(","), len(state.log)), state.broken
            given = [part.split(":") for part in query["since"].split(",")]
            seen |= {plural: length_at(plural, version) for plural, version in given}
            position = min(seen.values())
            self.wfile.write(f": hello\nid: {position_of(seen)}\n\n".encode())
            if state.steps:
                state.steps.popleft()()
            while True:
                news, end, ended = state.next_news(position, broken)
                for place, (change, plural, body) in enumerate(news, start=position + 1):
                    if plural is None or place > seen.get(plural, place):
                        seen |= {plural: place} if plural else {}
                        self.wfile.write(f"id: {position_of(seen)}\nevent: {change}\ndata: {body}\n\n".encode())
                position = end
                if ended:
                    return


@pytest.fixture
def server(tmp_path):
    """A server that runs on the data directory `tmp_path/data`."""
    state = FakeServer()
    handler = type("BoundHandler", (Handler,), {"server_state": state})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = False
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_port}"
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    (data_dir / "server.json").write_text(json.dumps({"url": state.url, "pid": os.getpid()}))
    (data_dir / "admin.token").write_text(f"{TOKEN}\n")
    yield state
    with state.changed:
        state.closing = True
        state.changed.notify_all()
    http.shutdown()
    http.server_close()
    thread.join()


@dataclass(frozen=True)
class Result:
    """How a command ended and what it said where."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def rows(self):
        """The cells of a table by whitespace; only for cells without spaces."""
        return [line.split() for line in self.out.splitlines()]


def quick_workshop():
    """The real one, but nobody waits for a lock to settle."""
    return replace(real_workshop(), wait=no_wait)


@pytest.fixture
def run(tmp_path):
    """Run one command in `tmp_path` with no variables but those given; the data directory is `tmp_path/data`."""

    def run_command(*args, **variables):
        environment = Environment({"HOME": str(tmp_path), "TIDEGATE_DATA_DIR": "data", **variables}, tmp_path)
        out, err = io.StringIO(), io.StringIO()
        app = assemble(CliContext(RushingClock(NOON), environment, workshop=quick_workshop), args)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
            app(list(args), prog_name="tidegate")
        return Result(int(ended.value.code or 0), out.getvalue(), err.getvalue())

    return run_command

"""The API as Python calls. Every problem leaves here as one of our errors, with what to do next."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit

from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import CommandFailure
from tidegate.cli.http.discovery import Endpoint
from tidegate.cli.http.events import QUIET, Quiet, ResourceEvent, read_events
from tidegate.cli.http.nouns import Noun
from tidegate.cli.http.wire import Wire
from tidegate.errors import (
    InvalidInput,
    NotFound,
    ServerUnreachable,
    StoreUnavailable,
    TidegateError,
    Unauthenticated,
    error_classes,
)

if TYPE_CHECKING:
    import httpx2

Parameters = Mapping[str, str | list[str]]

PAGE_SIZE = 500
# Creating a volume or a target makes the server look at it, and a far store takes its time to answer.
_ANSWER_SECONDS = 60.0
_CONNECT_SECONDS = 5.0
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_STATUS_CLASSES: Mapping[int, type[TidegateError]] = {401: Unauthenticated, 403: Unauthenticated, 503: StoreUnavailable}


@dataclass(frozen=True)
class Listing:
    """All that was asked for, and from where to follow the changes."""

    items: list[Wire]
    version: str


class Client:
    """One connection to one server. Use it as a context manager."""

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx2

        self._endpoint = endpoint
        self._http = httpx2.Client(
            base_url=endpoint.url,
            headers={"Authorization": f"Bearer {endpoint.token}", "Accept": "application/json"},
            timeout=httpx2.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
            # A proxy from the environment has nothing to do with a server on this machine.
            trust_env=urlsplit(endpoint.url).hostname not in _LOOPBACK,
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def get(self, noun: Noun, name: str, namespace: str = "") -> Wire:
        """One resource; raises NotFound only if the server says so. Of a noun with several kinds, whichever has it."""
        for plural in noun.plurals[:-1]:
            try:
                return self._resource("GET", _path(plural, name, namespace))
            except NotFound:
                continue
        return self._resource("GET", _path(noun.plurals[-1], name, namespace))

    def list(self, plural: str, *, namespace: str = "", selector: str = "", at_most: int | None = None) -> Listing:
        """Everything that is selected, or the first `at_most`; the version is that of the first look."""
        items: list[Wire] = []
        version = ""
        marker = None
        while True:
            query = {"namespace": namespace, "labelSelector": selector, "marker": marker or ""}
            query["limit"] = str(at_most or PAGE_SIZE)
            page = self._resource("GET", f"/v1/{plural}", {key: value for key, value in query.items() if value})
            items += page.get("data", [])
            version = version or str(page.get("resourceVersion", ""))
            marker = (page.get("pagination") or {}).get("next")
            if not marker or at_most is not None:
                return Listing(items, version)

    def versions(self, plurals: Iterable[str]) -> dict[str, str]:
        """From where to follow each kind, so that nothing after now is missed."""
        return {plural: self.list(plural, at_most=1).version for plural in plurals}

    def create(self, noun: Noun, resource: Wire, *, dry_run: bool) -> Wire:
        """Store a new resource, or with `dry_run` only learn what would be stored."""
        return self._resource("POST", f"/v1/{noun.plural}", _dry(dry_run), resource)

    def put(self, noun: Noun, resource: Wire) -> Wire:
        """Create or replace."""
        return self._resource("PUT", _path(noun.plural, resource["metadata"]["name"], ""), None, resource)

    def ask_for(self, noun: Noun, name: str, action: str, query: dict[str, str] | None = None) -> Wire:
        """Have something done with a resource; what came of it."""
        return self._resource("POST", f"{_path(noun.plural, name, '')}/{action}", query)

    def next_times(self, schedule: str, count: int) -> Wire:
        """The coming times of a schedule."""
        return self._resource("GET", f"{_path('schedules', schedule, '')}/next", {"count": str(count)})

    def delete(self, noun: Noun, name: str, namespace: str = "", *, dry_run: bool) -> Wire | None:
        """Remove it: None if it is gone, or the resource as it is while the server still cleans up behind it."""
        response = self._send("DELETE", _path(noun.plural, name, namespace), _dry(dry_run), None)
        return self._document(response) if response.content else None

    def queue(self) -> Wire:
        """The queue in its order."""
        return self._resource("GET", "/v1/queue")

    def explain(self, name: str) -> Wire:
        """Why one backup waits."""
        return self._resource("GET", _path("queue", name, ""))

    def workload(self) -> Wire:
        """The queue as something to simulate."""
        return self._resource("GET", "/v1/queue-workload")

    def move(self, name: str, to: int) -> Wire:
        """Put a queued backup at another place; the backup as it is then."""
        return self._resource("POST", f"{_path('queue', name, '')}/move", None, {"to": to})

    def load(self) -> Wire:
        """What each node carries and may carry."""
        return self._resource("GET", "/v1/load")

    def put_load(self, configuration: Wire, *, version: str, dry_run: bool) -> Wire:
        """Set all limits; the load under them. Refused if the configuration is no longer of this version."""
        query = {**({"version": version} if version else {}), **(_dry(dry_run) or {})}
        return self._resource("PUT", "/v1/load", query, configuration)

    def look(self, path: str, query: Parameters | None = None) -> Wire:
        """Any answer below /v1 that is no resource."""
        return self._document(self._send("GET", f"/v1/{path}", query, None))

    def send(self, path: str, query: Parameters, body: Wire) -> Wire:
        """Something to be done below /v1 that is no action of one resource."""
        return self._document(self._send("POST", f"/v1/{path}", query, body))

    @contextmanager
    def download(self, path: str) -> Iterator[Iterator[bytes]]:
        """Any bytes below /v1, in pieces. Raises ServerUnreachable when they break off before the announced end."""
        import httpx2

        try:
            with self._http.stream("GET", f"/v1/{path}") as response:
                if response.is_error:
                    response.read()
                    raise self._problem(response)
                yield response.iter_bytes()
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise ServerUnreachable(
                f"The download from {self._endpoint.url} broke off: {error}.",
                hint="What is read may be damaged in the store; the server's log tells.",
            ) from error

    def act(self, noun: Noun, name: str, action: str, body: Wire) -> Wire:
        """One of a resource's actions; what the server answers."""
        return self._document(self._send("POST", _path(noun.plural, name, ""), {"action": action}, body))

    def change(self, method: str, plural: str, name: str = "", body: Wire | None = None) -> Wire:
        """Change what is no resource; what the server answers, if anything."""
        response = self._send(method, _path(plural, name, "") if name else f"/v1/{plural}", None, body)
        return self._document(response) if response.content else {}

    def cancel(self, noun: Noun, name: str) -> Wire:
        """Call one off; it as it is until it has stopped."""
        return self._resource("POST", f"{_path(noun.plural, name, '')}/cancel")

    def retry(self, noun: Noun, name: str) -> Wire:
        """Try one at once that failed."""
        return self._resource("POST", f"{_path(noun.plural, name, '')}/retry")

    def plan(self, restore: Wire) -> Wire:
        """What a restore would do."""
        return self._resource("POST", "/v1/restore-plans", None, restore)

    def server_version(self) -> str:
        """Of the server."""
        return str(self._resource("GET", "/v1/version").get("version", "unknown"))

    @contextmanager
    def events(
        self, plurals: tuple[str, ...], *, since: str, quiet_seconds: float
    ) -> Iterator[Iterator[ResourceEvent | Quiet]]:
        """Changes behind the position `since`. The iterator ends with a QUIET when nothing came for `quiet_seconds`.

        Raises ServerUnreachable when the stream breaks or ends, WatchExpired when changes were missed.
        """
        import httpx2

        query = {"kinds": ",".join(plurals), "since": since}
        timeout = httpx2.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS, read=quiet_seconds)
        try:
            with self._http.stream(
                "GET", "/v1/events", params=query, timeout=timeout, headers={"Accept": "text/event-stream"}
            ) as response:
                if response.is_error:
                    response.read()
                    raise self._problem(response)
                yield self._until_quiet(response)
        except httpx2.ReadTimeout:
            raise ServerUnreachable(f"The server at {self._endpoint.url} does not send its events.") from None
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise self._unreachable(error) from error

    def _until_quiet(self, response: "httpx2.Response") -> Iterator[ResourceEvent | Quiet]:
        import httpx2

        try:
            yield from read_events(response.iter_bytes())
        except httpx2.ReadTimeout:
            yield QUIET
            return
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error
        raise ServerUnreachable(f"The server at {self._endpoint.url} ended its event stream.")

    def _resource(self, method: str, path: str, query: dict[str, str] | None = None, body: Wire | None = None) -> Wire:
        return self._document(self._send(method, path, query, body))

    def _send(self, method: str, path: str, query: Parameters | None, body: Wire | None) -> "httpx2.Response":
        import httpx2

        try:
            response = self._http.request(method, path, params=query, json=body)
        except httpx2.ReadTimeout as error:
            raise ServerUnreachable(
                f"The server at {self._endpoint.url} did not answer within {_ANSWER_SECONDS:.0f} s.",
                hint="It may have done what you asked: look before you ask again." if method != "GET" else "",
            ) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._unreachable(error) from error
        except UnicodeEncodeError as error:
            raise InvalidInput(f"{error.object[:200]!r} is not text; names and paths must be UTF-8") from None
        if not response.is_success:
            raise self._problem(response)
        return response

    def _document(self, response: "httpx2.Response") -> Wire:
        try:
            document = response.json()
        except ValueError as error:
            raise self._stranger() from error
        if not isinstance(document, dict):
            raise self._stranger()
        return document

    def _problem(self, response: "httpx2.Response") -> Exception:
        """The error that the server meant, as if it had been raised here."""
        try:
            problem: Any = json.loads(response.content)
        except ValueError:
            problem = None
        told = problem if isinstance(problem, dict) else {}
        code, detail, hint = str(told.get("code", "")), str(told.get("detail", "")), str(told.get("hint") or "")
        cls = error_classes().get(code) or _STATUS_CLASSES.get(response.status_code)
        if cls is InvalidInput:
            return InvalidInput(detail, field=str(told.get("field") or ""), hint=hint)
        if cls is Unauthenticated:
            return Unauthenticated(
                detail or f"{self._endpoint.url} refused the token.",
                hint=hint or "Give the right one with --token-file FILE or the variable TIDEGATE_TOKEN.",
            )
        if cls is not None:
            return cls(detail or f"{self._endpoint.url} answered {response.status_code}.", hint=hint)
        if code:
            return CommandFailure(
                f"The server failed: {detail or code}",
                code=code,
                exit_code=ExitCode.FAILED,
                hint=hint or "The server's log tells more.",
            )
        return self._stranger()

    def _unreachable(self, error: Exception) -> ServerUnreachable:
        reason = str(error) or type(error).__name__
        return ServerUnreachable(
            f"No server answers at {self._endpoint.url}: {reason}.", hint=self._endpoint.start_hint
        )

    def _stranger(self) -> ServerUnreachable:
        return ServerUnreachable(
            f"What answers at {self._endpoint.url} is not a Tidegate server, or one of another version.",
            hint="Check the address with: tidegate config show --origin",
        )


def _path(plural: str, name: str, namespace: str) -> str:
    parts = [namespace, name] if namespace else [name]
    for part in parts:
        # The server checks names; this only keeps one from becoming another path.
        if not part or part in {".", ".."} or "/" in part:
            raise InvalidInput(f"{part!r} is not a name.", field="metadata.name")
    return "/".join(["/v1", plural, *(quote(part, safe="") for part in parts)])


def _dry(dry_run: bool) -> dict[str, str] | None:
    return {"dryRun": "true"} if dry_run else None

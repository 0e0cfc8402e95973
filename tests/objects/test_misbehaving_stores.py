"""A store that throttles, loses answers, cuts bodies short and speaks nonsense; over real HTTP."""

import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random

import pytest

from tidegate.errors import DamagedMetadata, InvalidInput, NoSpace, StoreBusy, StoreUnavailable
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.backoff import HURRIED, PATIENT
from tidegate.objects.open import open_store

KEYS = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hush"}
WHEN = {"Last-Modified": "Mon, 16 Nov 2026 00:00:00 GMT", "ETag": '"x"'}


def error(code, more=""):
    return f"<Error><Code>{code}</Code>{more}</Error>".encode()


class Misbehaving(ThreadingHTTPServer):
    """Keeps objects, and answers with what the test has put in `script` before it behaves."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.script, self.objects, self.seen, self.conditions = [], {}, Counter(), True
        self.overwrites, self.authorization = False, ""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def store(self, patience=HURRIED, waits=None, url="s3://bucket/", **more):
        def pause(seconds):
            waits.append(seconds)
            return False

        credentials = {**KEYS, **more, "AWS_ENDPOINTS": f"http://127.0.0.1:{self.server_port}"}
        access = TargetAccess(url=url, credentials=credentials)
        return open_store(access, patience=patience, pause=pause)


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server, key = self.server, self.path
        server.seen[self.command] += 1
        server.authorization = self.headers.get("Authorization", "")
        scripted = server.script.pop(0) if server.script else None
        if scripted == "lose the answer":
            server.objects[key] = body
        if scripted in {"lose the answer", "hang up"}:
            self.close_connection = True
            self.connection.close()
            return
        self.say(*(scripted or self.behave(key, body)))

    def behave(self, key, body):
        if self.command == "PUT":
            if self.headers.get("If-None-Match") and server_refuses(self.server):
                return 501, error("NotImplemented")
            if self.headers.get("If-None-Match") and key in self.server.objects and not self.server.overwrites:
                return 412, error("PreconditionFailed")
            self.server.objects[key] = body
            return 200, b""
        if key in self.server.objects:
            return 200, self.server.objects[key]
        return 404, error("NoSuchKey")

    def say(self, status, body, length=None):
        self.send_response(status)
        for name, value in WHEN.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        if length is not None:
            self.close_connection = True

    do_GET = do_PUT = do_HEAD = do_DELETE = answer  # noqa: N815


def server_refuses(server):
    return not server.conditions


@pytest.fixture
def server():
    made = Misbehaving()
    yield made
    made.shutdown()
    made.server_close()


ANSWERS = [
    (503, error("SlowDown"), StoreBusy, "fewer requests"),
    (429, b"", StoreBusy, "fewer requests"),
    (500, error("InternalError"), StoreUnavailable, "answered 500 InternalError"),
    (404, error("NoSuchBucket"), StoreUnavailable, "there is no bucket"),
    (404, b"<html>nginx</html>", StoreUnavailable, "answered 404"),
    (507, error("XMinioStorageFull"), NoSpace, "full"),
    (301, error("PermanentRedirect"), InvalidInput, "another region"),
    (400, error("AuthorizationHeaderMalformed", "<Region>eu-north-1</Region>"), InvalidInput, "eu-north-1"),
]


@pytest.mark.parametrize(("status", "body", "kind", "sentence"), ANSWERS)
def test_every_answer_says_who_must_act(server, status, body, kind, sentence):
    server.script = [(status, body)]

    with pytest.raises(kind, match=sentence) as raised:
        server.store().get("a", at_most=10)

    assert type(raised.value) is kind
    assert "hush" not in f"{raised.value!r} {raised.value.__cause__}"


@pytest.mark.parametrize("call", ["list_level", "list_all"])
def test_a_page_that_is_no_listing_is_no_empty_store(server, call):
    server.script = [(200, b"<html>welcome</html>"), (200, b"<html>welcome</html>")]

    with pytest.raises(StoreUnavailable, match="not as a store does"):
        list(getattr(server.store(), call)("backupstore"))


def test_a_body_that_is_cut_short_is_no_object(server):
    server.script = [(200, b"abc", 100)]

    with pytest.raises(StoreUnavailable):
        server.store().get("a", at_most=1000)


def test_an_object_that_is_too_long_is_not_read(server):
    server.store().put("a", b"12345678")

    with pytest.raises(DamagedMetadata, match="8 bytes"):
        server.store().get("a", at_most=7)


def test_throttling_and_failures_are_waited_out(server):
    waits = []
    server.store().put("a", b"1")
    server.script = [(503, error("SlowDown")), (500, b""), "hang up", (429, b"")]

    assert server.store(PATIENT, waits).get("a", at_most=1) == b"1"
    assert (len(waits), server.seen["GET"]) == (4, 5)


def test_the_library_itself_repeats_no_request(server):
    server.script = [(500, b"")] * 3

    with pytest.raises(StoreUnavailable):
        server.store().get("a", at_most=1)

    assert server.seen["GET"] == 1


def test_a_creation_whose_answer_got_lost_is_ours(server):
    waits = []
    server.script = [(404, b""), "lose the answer"]

    assert server.store(PATIENT, waits).put_if_absent("volume.cfg", b"mine")
    assert len(waits) == 1


def test_a_store_without_conditions_is_asked_first(server):
    server.conditions = False
    store = server.store()

    assert (store.put_if_absent("a", b"1"), store.put_if_absent("a", b"2")) == (True, False)
    assert store.get("a", at_most=1) == b"1"


def test_the_first_block_teaches_whether_a_store_honours_conditions(server):
    store = server.store()
    assert store.put_if_absent("block", b"1", lazily=True)
    server.seen.clear()

    assert store.put_if_absent("next", b"2", lazily=True)
    assert not store.put_if_absent("block", b"3", lazily=True)
    assert server.seen["HEAD"] == 0


def test_a_block_put_twice_to_learn_stays_what_it_was_in_a_store_that_overwrites(server):
    server.overwrites = True
    store = server.store()

    assert store.put_if_absent("block", b"1", lazily=True)
    assert not store.put_if_absent("block", b"2", lazily=True)
    assert store.get("block", at_most=1) == b"1"


def test_a_store_that_honours_conditions_is_not_asked_first_once_that_is_known(server):
    store = server.store()
    server.objects["/bucket/a"] = b"1"
    server.script = [(404, b"")]
    assert not store.put_if_absent("a", b"2")
    heads = server.seen["HEAD"]

    assert not store.put_if_absent("a", b"3")
    assert store.put_if_absent("b", b"3")
    assert (server.seen["HEAD"], server.objects["/bucket/a"]) == (heads, b"1")


def test_a_conflict_of_two_writers_is_tried_again(server):
    waits = []
    server.script = [(404, b""), (409, error("ConditionalRequestConflict"))]

    assert server.store(PATIENT, waits).put_if_absent("a", b"1")
    assert len(waits) == 1


def test_bodies_go_in_one_plain_request(server):
    big = Random(1).randbytes(12 * 1024 * 1024)

    server.store().put("big", big)

    assert (server.seen, server.objects["/bucket/big"] == big) == (Counter(PUT=1), True)


@pytest.mark.parametrize(
    ("url", "given", "region"),
    [
        ("s3://bucket@eu-west-1/", {"AWS_REGION": "eu-central-1"}, "eu-west-1"),
        ("s3://bucket/", {"AWS_REGION": "eu-central-1"}, "eu-central-1"),
        ("s3://bucket/", {}, "us-east-1"),
    ],
)
def test_the_region_is_that_of_the_url_else_that_of_the_credentials(server, url, given, region):
    server.store(url=url, **given).put("key", b"body")

    assert f"/{region}/s3/aws4_request" in server.authorization

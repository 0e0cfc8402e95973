"""The socket that clients knock at."""

import asyncio
import contextlib
import json
import socket

import pytest

from tidegate.api.page_files import PageFile, PageFiles
from tidegate.api.services import Services
from tidegate.app.http.server import HttpServer, listening_socket
from tidegate.decide.access.connections import ConnectionLimits
from tidegate.resources.memory import MemoryStore
from tidegate.testing.clock import ManualClock
from tidegate.testing.doubles.store_probe import FakeStoreProbe
from tidegate.testing.doubles.volume_probe import FakeVolumeProbe
from tidegate.testing.identity import counting_ids
from tidegate.testing.resources.a_state import a_state
from tidegate.testing.resources.builders import a_target


@pytest.fixture
def services():
    clock = ManualClock()
    store = MemoryStore(clock=clock, new_id=counting_ids())
    return Services(
        a_state(store, clock),
        clock,
        FakeVolumeProbe(),
        FakeStoreProbe(),
        token_is_good=lambda token: token == "t0ken",
        version="1",
    )


def test_no_connection_waits_for_an_acknowledgement_before_it_sends_the_end_of_an_answer():
    with listening_socket("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


@contextlib.asynccontextmanager
async def serving(services, **limits):
    """A real server on a real socket, with short times; what connects to it and is closed behind the test."""
    with listening_socket("127.0.0.1", 0) as listener, contextlib.ExitStack() as ends:

        async def connect(**options):
            reader, writer = await asyncio.open_connection(*listener.getsockname(), **options)
            ends.callback(writer.close)
            return reader, writer

        server = HttpServer(services, ConnectionLimits(**{"most": 100, **limits}))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield connect
        finally:
            ends.close()
            server.stop()
            await running


async def everything(reader):
    """Until the server closes; as a test that hangs says less than one that fails, not for ever."""
    async with asyncio.timeout(20):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b"reset"


def a_request(path="/livez", headers=""):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode()


async def answer_to(connect, request):
    reader, writer = await connect()
    writer.write(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    return await everything(reader)


async def test_a_client_that_never_ends_its_headers_is_told_so_and_closed(services):
    async with serving(services, header=0.2) as connect:
        reader, writer = await connect()
        writer.write(b"GET /livez HTTP/1.1\r\nHost: loc")

        assert (await everything(reader)).startswith(b"HTTP/1.1 408 Request Timeout")


async def test_a_client_that_says_nothing_is_closed(services):
    async with serving(services, header=0.2) as connect:
        reader, _writer = await connect()

        assert await everything(reader) == b""


async def test_a_connection_without_another_request_is_closed(services):
    async with serving(services, idle=0.2) as connect:
        reader, writer = await connect()
        writer.write(a_request())

        assert (await everything(reader)).endswith(b"ok\n")


async def test_a_second_request_that_never_ends_is_closed_too(services):
    async with serving(services, header=0.2, idle=30) as connect:
        reader, writer = await connect()
        writer.write(a_request())
        await reader.readuntil(b"ok\n")
        writer.write(b"GET /li")

        assert b"408" in await everything(reader)


@pytest.mark.parametrize("limits", [{"progress": 0.2}, {"request": 0.2}])
async def test_a_body_that_does_not_arrive_is_not_waited_for(services, limits):
    async with serving(services, **limits) as connect:
        reader, writer = await connect()
        writer.write(b"POST /v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")

        assert b"408" in await everything(reader)


async def test_a_head_that_is_too_large_is_told_so_to_a_client_that_still_sends_it(services):
    async with serving(services) as connect:
        reader, writer = await connect()
        writer.write(b"GET /v1/backups/b/content?path=" + 4_000_000 * b"x" + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = await everything(reader)

    assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large")
    assert b"at most 65536 bytes" in answer


async def test_a_path_as_long_as_the_head_allows_is_read(services):
    async with serving(services) as connect:
        answer = await answer_to(connect, a_request(f"/v1/backups/b/content?path={65_000 * 'x'}"))

    assert answer.startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET / HTTP/1.1\r\nHo st: x\r\n\r\n"])
async def test_bytes_that_are_no_http_are_answered_with_a_problem_document(services, sent):
    async with serving(services) as connect:
        reader, writer = await connect()
        writer.write(sent)
        head, _, body = (await everything(reader)).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 Bad Request")
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == 400


async def test_a_refused_client_that_neither_reads_nor_closes_is_not_waited_for(services):
    async with serving(services) as connect:
        reader, writer = await connect()
        writer.write(b"no http\r\n\r\n")
        await reader.readuntil(b"HTTP/1.1 400")
        writer.write(b"x" * 100_000)

        await everything(reader)
        async with asyncio.timeout(20):
            with contextlib.suppress(ConnectionError):
                while not writer.is_closing():
                    writer.write(b"x" * 100_000)
                    await writer.drain()


async def test_garbage_in_a_body_ends_an_answer_that_has_begun_and_is_no_error_of_the_server(services, caplog):
    services.page = PageFiles({"assets/big.js": PageFile(bytes(24 << 20), "text/javascript")})
    async with serving(services) as connect:
        reader, writer = await connect(limit=1)
        writer.write(a_request("/assets/big.js", "Transfer-Encoding: chunked\r\n"))
        await reader.readexactly(1)
        writer.write(b"not a chunk\r\n")

        assert len(await everything(reader)) < 24 << 20

    assert [record for record in caplog.records if record.exc_info] == []


async def test_a_request_with_two_lengths_is_refused_and_nothing_behind_it_is_heard(services):
    smuggled = b"POST /v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with serving(services) as connect:
        reader, writer = await connect()
        writer.write(smuggled + b"0\r\n\r\n" + a_request())
        answer = await everything(reader)

    assert answer.startswith(b"HTTP/1.1 400 Bad Request")
    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("header", ["X-Forwarded-For: 1.1.1.{}", "Forwarded: for=1.1.1.{}", "X-Real-IP: 1.1.1.{}"])
async def test_no_client_chooses_its_address_not_even_one_on_this_machine(services, header):
    wrong = b'{"token":"wrong"}'
    async with serving(services) as connect:
        statuses = []
        for number in range(11):
            claimed = header.format(number) + "\r\nContent-Type: application/json\r\n"
            head = a_request("/v1/login", f"{claimed}Content-Length: {len(wrong)}\r\n").replace(b"GET", b"POST")
            reader, writer = await connect()
            writer.write(head + wrong)
            statuses.append((await reader.readline())[9:12])

    assert statuses == [b"401"] * 10 + [b"429"]


async def test_a_request_without_an_answer_is_told_so(services):
    never = asyncio.Event()

    async def hang(*_args, **_options):
        await never.wait()

    services.store.list = hang
    async with serving(services, request=0.2) as connect:
        answer = await answer_to(connect, a_request("/v1/nodes", "Authorization: Bearer t0ken\r\n"))
        never.set()

    assert answer.startswith(b"HTTP/1.1 503 Service Unavailable")
    assert b"may still happen" in answer


async def test_a_quiet_event_stream_outlives_all_times(services):
    async with serving(services, header=0.1, idle=0.1, request=0.1, progress=0.1) as connect:
        reader, writer = await connect()
        writer.write(a_request("/v1/events", "Authorization: Bearer t0ken\r\n"))
        await reader.readuntil(b"id: ")
        # Another one, opened later, ends first: so the server has looked at both.
        silent, _ = await connect()
        await everything(silent)

        await services.store.create(a_target("new"))

        assert await reader.readuntil(b"ADDED")


async def test_a_client_that_takes_nothing_of_its_answer_is_closed(services):
    services.page = PageFiles({"assets/big.js": PageFile(bytes(24 << 20), "text/javascript")})
    async with serving(services, progress=0.2, header=1.5) as connect:
        reader, writer = await connect(limit=1)
        writer.write(a_request("/assets/big.js"))
        await reader.readexactly(1)
        # Nothing is read until this one's longer time is over.
        silent, _ = await connect()
        await everything(silent)

        assert len(await everything(reader)) < 24 << 20


async def test_who_holds_many_connections_makes_room_from_their_own(services):
    async with serving(services, most=8) as connect:
        held = [await connect() for _ in range(20)]

        assert (await answer_to(connect, a_request())).endswith(b"ok\n")
        assert [await everything(reader) for reader, _ in held[:16]] == [b""] * 16


async def test_clients_that_read_nothing_of_their_answers_keep_others_out_for_seconds_only(services):
    services.page = PageFiles({"assets/big.js": PageFile(bytes(24 << 20), "text/javascript")})
    async with serving(services, most=4, progress=600) as connect:
        for _ in range(2):
            reader, writer = await connect(limit=1)
            writer.write(a_request("/assets/big.js"))
            await reader.readexactly(1)

        async with asyncio.timeout(60):
            while not (await answer_to(connect, a_request())).endswith(b"ok\n"):
                pass


async def test_when_all_connections_have_work_the_next_one_gets_an_honest_503(services):
    async with serving(services, most=4) as connect:
        streams = [await connect() for _ in range(2)]
        for reader, writer in streams:
            writer.write(a_request("/v1/events", "Authorization: Bearer t0ken\r\n"))
            await reader.readuntil(b"id: ")

        answer = await everything((await connect())[0])

        assert answer.startswith(b"HTTP/1.1 503 Service Unavailable")
        assert b"too many connections from this address" in answer

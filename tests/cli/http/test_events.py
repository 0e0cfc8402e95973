"""Reading the event stream, however the bytes arrive."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.cli.http.events import QUIET, Quiet, ResourceEvent, position_behind, read_events
from tidegate.errors import ServerUnreachable, WatchExpired


def a_message(version, change, resource):
    return f"id: {version}\nevent: {change}\ndata: {json.dumps(resource, ensure_ascii=False)}\n\n".encode()


# U+2028 and U+0085 end a line for Python's str.splitlines, but not in an event stream.
RESOURCE = {"metadata": {"name": "a\u2028b\x85c"}, "kind": "Backup"}


@given(st.lists(st.integers(0, 200)))
def test_events_do_not_depend_on_where_the_network_cuts_them(cuts):
    stream = b": hello\n\n" + a_message("1", "ADDED", RESOURCE) + a_message("2", "DELETED", RESOURCE)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    chunks = [stream[start:end] for start, end in pairwise(places)]

    assert list(read_events(chunks)) == [
        QUIET,
        ResourceEvent("1", "ADDED", RESOURCE),
        ResourceEvent("2", "DELETED", RESOURCE),
    ]


def test_windows_line_ends_and_data_on_several_lines_are_understood():
    stream = b'id: 1\r\nevent: ADDED\r\ndata: {"metadata":\r\ndata: {}}\r\n\r\n'

    assert list(read_events([stream])) == [ResourceEvent("1", "ADDED", {"metadata": {}})]


def test_kinds_of_events_that_a_newer_server_has_are_passed_over():
    assert list(read_events([b"event: bookmark\ndata: {}\n\n"])) == []


@pytest.mark.parametrize("more", [b"", b"event: bookmark\ndata: {}\n"])
def test_a_message_without_a_change_says_where_to_resume(more):
    assert list(read_events([b"id: backups:7\n" + more + b"\n"])) == [Quiet("backups:7")]


def test_a_position_names_the_version_of_each_kind():
    assert position_behind({"backups": "b7", "volumes": "v9"}) == "backups:b7,volumes:v9"


def test_an_expired_watch_is_told():
    with pytest.raises(WatchExpired):
        list(read_events([b"event: expired\ndata: {}\n\n"]))


@pytest.mark.parametrize("text", [b"{", b"[]", b"{}", b"1"])
def test_an_event_that_is_not_a_resource_is_refused(text):
    with pytest.raises(ServerUnreachable):
        list(read_events([b"event: ADDED\ndata: " + text + b"\n\n"]))

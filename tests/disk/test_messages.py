"""Messages between processes: nothing is lost on the way, whatever the pieces that a pipe makes of them."""

import os
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.disk.messages import LineReader, Lines, Messages, SentError, write_all
from tidegate.errors import HelperLost, InvalidInput, NoSpace, StoreIdentityChanged, StoreLockHeld
from tidegate.model.plain import Plain


@dataclass(frozen=True, kw_only=True)
class Ask(Plain):
    type: Literal["ask"] = "ask"
    names: list[str]
    parts: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Stop(Plain):
    type: Literal["stop"] = "stop"


MESSAGES: Messages[Ask | Stop] = Messages([Ask, Stop])


@given(st.lists(st.text(st.characters(exclude_categories=()))), st.dictionaries(st.text(), st.floats(0, 1)))
def test_a_message_is_one_line_and_comes_back_as_it_was(names, parts):
    message = Ask(names=names, parts=parts)

    line = MESSAGES.encode(message)

    assert (line.count(b"\n"), line[-1:]) == (1, b"\n")
    assert MESSAGES.decode(line) == message


@pytest.mark.parametrize("line", [b"", b"a library printed this", b"[]", b'{"type":"other"}', b'{"type":"stop","x":1}'])
def test_another_line_is_refused(line):
    with pytest.raises(InvalidInput):
        MESSAGES.decode(line)


@given(st.lists(st.binary().filter(lambda line: b"\n" not in line)), st.lists(st.integers(0, 200)), st.binary())
def test_lines_do_not_depend_on_how_the_stream_is_cut(lines, cuts, rest):
    rest = rest.replace(b"\n", b"")
    stream = b"".join(line + b"\n" for line in lines) + rest
    ends = sorted({min(cut, len(stream)) for cut in cuts} | {len(stream)})
    cutter, begin, found = Lines(), 0, []
    for end in ends:
        found += cutter.feed(stream[begin:end])
        begin = end

    assert found == lines


def test_a_reader_returns_whole_lines_and_then_the_end():
    ours, theirs = os.pipe()
    write_all(theirs, b"one\ntwo\n\nhalf")
    os.close(theirs)
    reader = LineReader(ours)

    assert [reader.line(), reader.has_line, reader.line(), reader.line(), reader.line()] == [
        b"one",
        True,
        b"two",
        b"",
        None,
    ]
    os.close(ours)


ERRORS = [
    InvalidInput("no", field="spec.url", hint="say yes"),
    StoreIdentityChanged("another", found="that one"),
    StoreLockHeld("held", lock="lock-1"),
    HelperLost("gone"),
    NoSpace("full"),
]


def sent(error):
    return SentError.of(error).as_error()


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_an_error_of_ours_arrives_with_what_it_knows(error):
    arrived = sent(error)

    assert (type(arrived), vars(arrived) | {"__notes__": None}) == (type(error), vars(error) | {"__notes__": None})
    assert error.message in arrived.__notes__[0]


@pytest.mark.parametrize("path", ["/a/file", b"/no-text-\xff", None])
def test_an_error_of_the_system_arrives_as_its_own_kind(path):
    arrived = sent(OSError(28, "No space left on device", path))

    assert (arrived.errno, arrived.strerror) == (28, "No space left on device")
    assert arrived.filename == (os.fsdecode(path) if path else None)
    assert type(sent(FileNotFoundError(2, "No such file"))) is FileNotFoundError


def test_of_any_other_error_its_words_arrive():
    class Odd(Exception):
        def __init__(self, one, two):
            super().__init__(f"{one} and {two}")

    arrived = sent(Odd(1, 2))

    assert (type(arrived), str(arrived)) == (RuntimeError, "Odd: 1 and 2")

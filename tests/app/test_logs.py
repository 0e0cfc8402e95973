"""What strangers can cause is written at a limited rate."""

import logging
import sys

from tidegate.app.logs import LimitedRate


def line(message, at, exc_info=None):
    record = logging.LogRecord("asyncio", logging.ERROR, "x.py", 1, message, (), exc_info)
    record.created = at
    return record


def test_the_same_line_is_written_five_times_a_minute_and_then_says_how_many_were_left_out():
    rate = LimitedRate()
    written = [record for second in range(50) if rate.filter(record := line("socket.accept() failed", second))]

    assert len(written) == 5
    later = line("socket.accept() failed", 61)
    assert rate.filter(later)
    assert later.getMessage() == "socket.accept() failed (45 lines like this one were left out)"


def test_other_lines_and_errors_from_other_places_are_written_meanwhile():
    def error_of(function):
        try:
            function()
        except ZeroDivisionError:
            return sys.exc_info()

    rate = LimitedRate()
    for _ in range(9):
        rate.filter(line("a bug", 1, error_of(lambda: 1 / 0)))

    assert rate.filter(line("another line", 1))
    assert rate.filter(line("a bug", 1, error_of(lambda: 2 // 0)))


def test_lines_that_are_all_different_do_not_fill_the_memory():
    rate = LimitedRate()
    for number in range(10_000):
        rate.filter(line(f"line {number}", 1))

    assert len(rate._windows) <= 256

"""Crews that stand in line: nothing is lost, nothing piles up, and nobody waits for somebody who has failed."""

import threading

import pytest

from tidegate.datapath.uploads.assembly_line import Belt, BrokenOff, Crew, Row, work_in_line

# Far more than any of these takes; a line that stands still fails instead of hanging.
_PATIENCE = 30


class Line:
    """Numbers are doubled by one crew and kept by the next; counts how many exist at once."""

    def __init__(self, count, *, places, double=lambda number: number * 2, keep=lambda _: None):
        self.row, self.belt = Row(range(count)), Belt(places)
        self.double, self.keep_one = double, keep
        self.kept, self.batches, self.exist, self.most = [], [], 0, 0
        self.lock = threading.Lock()

    def run(self, *, makers, keepers, at_most=1):
        work_in_line(
            Crew(makers, self.make, takes=self.row, feeds=self.belt),
            Crew(keepers, lambda: self.keep(at_most), takes=self.belt),
        )

    def make(self):
        for number in self.row:
            self.belt.claim()
            with self.lock:
                self.exist += 1
                self.most = max(self.most, self.exist)
            self.belt.hand_over(self.double(number))

    def keep(self, at_most):
        while taken := self.belt.take(at_most):
            self.batches.append(len(taken))
            for number in taken:
                self.keep_one(number)
                with self.lock:
                    self.kept.append(number)
                    self.exist -= 1
                self.belt.release()


@pytest.mark.parametrize(("makers", "keepers", "places", "at_most"), [(1, 1, 1, 1), (4, 2, 3, 8), (2, 24, 24, 1)])
def test_everything_goes_through_the_line_once_and_never_more_exist_than_there_are_places(
    makers, keepers, places, at_most
):
    line = Line(500, places=places)

    line.run(makers=makers, keepers=keepers, at_most=at_most)

    assert sorted(line.kept) == [number * 2 for number in range(500)]
    assert line.most <= places


def taken_by_a_thread(belt, count):
    """A thread that takes so many, and what it got once it has ended."""
    got = []
    thread = threading.Thread(target=lambda: got.append(belt.take(count)))
    thread.start()

    def result():
        thread.join(_PATIENCE)
        return got

    return result


def put_on(belt, *things):
    for thing in things:
        belt.claim()
        belt.hand_over(thing)


def test_who_wants_several_gets_so_many_at_once():
    belt = Belt(8)
    result = taken_by_a_thread(belt, 4)

    put_on(belt, 0, 1, 2, 3)

    assert result() == [[0, 1, 2, 3]]


def test_who_wants_more_than_there_is_room_for_takes_what_is_there():
    belt = Belt(3)
    result = taken_by_a_thread(belt, 8)
    put_on(belt, 0, 1)

    belt.claim()  # by somebody who is still at work on it

    assert result() == [[0, 1]]


def test_what_is_there_is_taken_together_and_nobody_waits_for_what_never_comes():
    line = Line(20, places=20)
    all_made = threading.Event()
    line.double = lambda number: all_made.set() if number == 19 else number
    take = line.keep

    def keep_later(at_most):
        assert all_made.wait(_PATIENCE)
        take(at_most)

    line.keep = keep_later
    line.run(makers=1, keepers=1, at_most=8)

    assert line.batches[0] == 8
    assert sum(line.batches) == 20


def _fails(number):
    raise LookupError(f"at {number}")


def test_an_error_of_those_behind_stops_those_in_front_who_wait_for_a_place():
    line = Line(1000, places=2, keep=_fails)

    with pytest.raises(LookupError):
        line.run(makers=3, keepers=1)

    assert line.kept == []
    assert line.most <= 2


def test_an_error_of_those_in_front_stops_those_behind_and_what_lies_between_is_not_taken():
    begun, failed = threading.Event(), threading.Event()

    def double(number):
        if number < 3:
            return number
        assert begun.wait(_PATIENCE)
        failed.set()
        raise LookupError("at 3")

    def keep(_number):
        begun.set()
        assert failed.wait(_PATIENCE)

    line = Line(10, places=5, double=double, keep=keep)
    with pytest.raises(LookupError):
        line.run(makers=1, keepers=1)

    assert line.kept in ([0], [0, 1])  # in hand is finished; the next may have been taken before the error was known


def test_a_belt_that_is_broken_off_lets_nobody_wait_or_take():
    belt = Belt(1)
    belt.claim()
    belt.hand_over("thing")

    belt.break_off()

    with pytest.raises(BrokenOff):
        belt.take(1)
    with pytest.raises(BrokenOff):
        belt.claim()


def test_what_lies_on_a_belt_that_ended_is_still_taken():
    belt = Belt(2)
    put_on(belt, *"ab")

    belt.end()

    assert [belt.take(1), belt.take(8), belt.take(1)] == [["a"], ["b"], []]


def test_nothing_runs_any_more_when_the_line_has_ended():
    before = set(threading.enumerate())

    with pytest.raises(LookupError):
        Line(100, places=4, keep=_fails).run(makers=4, keepers=4)

    assert set(threading.enumerate()) - before == set()

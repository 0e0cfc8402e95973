"""Which connections a server waits for, and whose they are."""

import pytest

from tidegate.decide.access.connections import (
    ConnectionLimits,
    ConnectionState,
    Phase,
    first_to_go,
    is_overdue,
    source_of,
)

LIMITS = ConnectionLimits(most=8, header=10, idle=20, request=100, progress=30)


@pytest.mark.parametrize(
    ("phase", "age", "still", "overdue"),
    [
        (Phase.HEADERS, 10, 0, False),
        (Phase.HEADERS, 11, 0, True),
        (Phase.IDLE, 20, 20, False),
        (Phase.IDLE, 21, 21, True),
        (Phase.BODY, 99, 29, False),
        (Phase.BODY, 101, 0, True),
        (Phase.BODY, 31, 31, True),
        (Phase.WORK, 99, 99, False),
        (Phase.WORK, 101, 0, True),
        (Phase.ANSWER, 1_000_000, 30, False),
        (Phase.ANSWER, 31, 31, True),
        (Phase.REFUSED, 2, 0, False),
        (Phase.REFUSED, 3, 0, True),
    ],
)
def test_each_phase_has_its_own_time_and_a_stream_that_moves_has_no_end(phase, age, still, overdue):
    now = 2_000_000.0

    assert is_overdue(ConnectionState(phase, now - age, now - still), now, LIMITS) is overdue


def test_the_oldest_connection_without_a_whole_request_makes_room():
    phases = [Phase.WORK, Phase.BODY, Phase.ANSWER, Phase.HEADERS, Phase.IDLE]

    states = [ConnectionState(phase, since, 0) for phase, since in zip(phases, [1, 4, 2, 3, 5], strict=True)]

    assert first_to_go(states, 9) == 3


def test_else_that_one_makes_room_which_has_left_its_answer_for_the_longest_time():
    still = [ConnectionState(Phase.WORK, 0, 0), *(ConnectionState(Phase.ANSWER, 0, taken) for taken in (6, 5, 9))]

    assert first_to_go(still, 10) == 2


def test_a_connection_with_work_or_an_answer_that_moves_never_makes_room():
    assert first_to_go([ConnectionState(Phase.WORK, 0, 0), ConnectionState(Phase.ANSWER, 0, 9)], 10) is None


def test_one_address_never_gets_all_connections():
    assert LIMITS.most_of_one == 4


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::9", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_all_addresses_of_an_ipv6_network_are_one_client(address, source):
    assert source_of(address) == source

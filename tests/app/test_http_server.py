"""The socket that clients knock at."""

import socket

from tidegate.app.http_server import listening_socket


def test_no_connection_waits_for_an_acknowledgement_before_it_sends_the_end_of_an_answer():
    with listening_socket("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1

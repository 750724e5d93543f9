"""The connections below the socket: how much may be under way, who is ended, how fast connections may come, and which
routing ids were assigned.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TypeAlias

import pytest
import zmq
from doubles.process_gauges import comes_true

from broker.server import connections as connections_module
from broker.server import router as router_module
from broker.server.connections import SILENT_SECONDS_MAX
from broker.server.router import Router
from broker.server.security import rates
from broker.server.security.rates import Rates

MESSAGE = bytes(20_000)


@pytest.fixture
def router() -> Iterator[Router]:
    opened = Router("tcp://127.0.0.1:0", outbox_bytes=1_000_000, outboxes_bytes=1_200_000)
    yield opened
    opened.close(0)


Dealer: TypeAlias = "zmq.Socket[bytes]"
MakePeer: TypeAlias = "Callable[..., Dealer]"


@pytest.fixture
def peer(router: Router) -> Iterator[MakePeer]:
    """Makes one that says a word, and reads nothing."""
    with zmq.Context() as context, ExitStack() as stack:

        def made(routing_id: bytes = b"") -> Dealer:
            dealer = stack.enter_context(context.socket(zmq.DEALER))
            dealer.linger = 0
            dealer.rcvhwm = 1
            dealer.reconnect_ivl = -1
            if routing_id:
                dealer.routing_id = routing_id
            dealer.connect(router.endpoint)
            dealer.send(b"hello")
            return dealer

        yield made


def heard(router: Router) -> bytes:
    """The session of the next message."""
    assert comes_true(lambda: router.authenticator.answer() == [] and router.socket.poll(1) > 0)
    received = router.receive()
    assert received is not None
    return received[0]


def plain(router: Router) -> socket.socket:
    """A connection that has not said a word."""
    host, _, port = router.endpoint.removeprefix("tcp://").rpartition(":")
    return socket.create_connection((host, int(port)), timeout=60)


def connected(router: Router) -> int:
    router.connections.attend()
    return len(router.connections._connections)


def ended(connection: socket.socket) -> bool:
    """Whether it has ended, after what libzmq says to everybody."""
    try:
        while connection.recv(1_000):
            pass
    except TimeoutError:
        return False
    except ConnectionResetError:
        pass
    return True


def test_so_much_may_be_under_way_to_a_peer_and_what_it_takes_makes_room(
    router: Router, peer: MakePeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections_module, "IN_FLIGHT_BYTES_MAX", 200_000)
    dealer = peer()
    session = heard(router)
    for _ in range(3):
        sent = 0
        while not router.waiting:
            assert router.send(session, MESSAGE)
            sent += 1
        connection = router.connections._sessions[session]
        taken = router.connections._acknowledged(connection)
        assert taken is not None
        assert connection.handed - taken <= 200_000 + len(MESSAGE) + 2
        assert sent < router_module.HIGH_WATER_MESSAGES, "the limit of libzmq alone"
        read = 0
        while read < sent:
            dealer.poll(60_000)
            read += len(dealer.recv()) // len(MESSAGE)
            assert router.retry() == []
        assert not router.waiting


def test_who_is_given_up_loses_its_connection(router: Router, peer: MakePeer) -> None:
    peer()
    session = heard(router)
    while router.send(session, MESSAGE):
        pass
    assert comes_true(lambda: router.socket.poll(1) >= 0 and not router.send(session, MESSAGE), 60), "it is gone"
    assert not router.waiting


def test_all_outboxes_together_are_bounded_and_the_longest_goes(
    router: Router, peer: MakePeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections_module, "IN_FLIGHT_BYTES_MAX", 0)
    sessions = []
    for _ in range(3):
        peer()
        sessions.append(heard(router))
    first, second, third = sessions
    for session, count in ((first, 10), (second, 30), (third, 15)):
        while session not in router.full:
            assert router.send(session, MESSAGE)
        for _ in range(count):
            assert router.send(session, MESSAGE)
    assert router.send(first, bytes(200_000))
    assert set(router.full) == {first, third}
    assert second in router.retry()


def test_who_has_no_session_is_ended_after_a_while_and_nobody_else(
    router: Router, peer: MakePeer
) -> None:
    dealer = peer()
    session = heard(router)
    with plain(router) as silent:
        assert comes_true(lambda: connected(router) == 2)
        for _ in range(SILENT_SECONDS_MAX):
            router.connections.tick(session.__eq__)
        assert router.connections.ended == 0
        router.connections.tick(session.__eq__)
        assert router.connections.ended == 1
        assert ended(silent)
    assert router.send(session, b"still there")
    assert dealer.recv() == b"still there"
    for _ in range(SILENT_SECONDS_MAX + 1):
        router.connections.tick(lambda _: False)  # its session has ended
    assert comes_true(lambda: router.socket.poll(1) >= 0 and not router.send(session, b"x"))


def test_where_too_many_are_silent_the_oldest_go(router: Router) -> None:
    router.connections._silent_max = 2
    with ExitStack() as stack:
        silent = [stack.enter_context(plain(router)) for _ in range(5)]
        assert comes_true(lambda: connected(router) == 5)
        router.connections.tick(lambda _: False)
        assert router.connections.ended == 3
        assert all(ended(each) for each in silent[:3])
        assert comes_true(lambda: connected(router) == 2)


def test_connections_of_one_address_come_at_a_rate_and_others_beside_them() -> None:
    now = [0.0]
    gate = Rates(lambda: now[0], 10)
    here = ["127.0.0.1", "127.0.0.2", "::1"]
    assert [gate.admit(here[number % 3]) for number in range(12)] == [True] * 10 + [False] * 2
    assert gate.admit("192.0.2.1")
    now[0] = 0.05
    assert [gate.admit("127.7.7.7") for _ in range(6)] == [True] * 5 + [False]
    now[0] = 1_000.0
    assert [gate.admit("127.7.7.7") for _ in range(11)] == [True] * 10 + [False], "no more than at once"
    taken = sum(gate.admit(f"192.0.2.{number}") for number in range(100))
    assert taken == 10 * rates.TOTAL_FACTOR - 10, "all together"


def test_who_comes_too_often_is_asked_to_come_later(
    router: Router, peer: MakePeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "PER_SECOND", 0)
    router.authenticator._rates._at_once = 1.0
    peer()
    heard(router)
    peer()
    refused: list[str] = []

    def answered() -> bool:
        refused.extend(router.authenticator.answer())
        return bool(refused)

    assert comes_true(answered)
    assert refused[0].startswith("127.0.0.1: more connections than ")
    assert (router.authenticator.admitted, router.authenticator.denied) == (1, 0)


def test_an_id_that_was_not_assigned_is_told_from_those_that_were(
    router: Router, peer: MakePeer
) -> None:
    """The next ones above all: who has such a one when its number comes ends the process."""
    for _ in range(5):
        peer()
        session = heard(router)
        assert router.assigned(session)
    number = int.from_bytes(session[1:], "big")
    for ahead in (2, 3, 1_000, 2**31, -6, -1_000):  # this connection's own number might be the next
        assert not router.assigned(b"\0" + ((number + ahead) % 2**32).to_bytes(4, "big"))
    peer(b"\0" + ((number + 1_000) % 2**32).to_bytes(4, "big"))
    assert not router.assigned(heard(router))

"""The socket never waits and drops nothing in silence: a full peer is queued for, in order, and given up at a limit."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import zmq
from doubles.process_gauges import comes_true

from broker.events import DefinitionError
from broker.server.router import Router

OUTBOX = 4_000_000


@pytest.fixture
def router() -> Iterator[Router]:
    opened = Router("tcp://127.0.0.1:0", outbox_bytes=OUTBOX)
    yield opened
    opened.close(0)


@pytest.fixture
def peer(router: Router) -> Iterator[zmq.Socket[bytes]]:
    with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.linger = 0
        dealer.rcvhwm = 1
        dealer.connect(router.endpoint)
        yield dealer


def session_of(router: Router, peer: zmq.Socket[bytes]) -> bytes:
    peer.send(b"hello")
    assert comes_true(lambda: router.authenticator.answer() == [] and router.socket.poll(1) > 0)
    received = router.receive()
    assert received is not None
    session, identity, frames = received
    assert identity == ""
    assert frames == [b"hello"]
    assert router.receive() is None
    return session


def test_who_was_never_there_is_gone(router: Router) -> None:
    assert router.send(b"nobody", b"x") is False
    assert router.probe(b"nobody", b"x") is False
    assert not router.waiting


def test_who_does_not_read_is_queued_for_in_order(router: Router, peer: zmq.Socket[bytes]) -> None:
    session = session_of(router, peer)
    sent = 0
    while not router.waiting or sent % 100:
        assert router.send(session, b"%06d" % sent + bytes(20_000))
        sent += 1
    assert router.probe(session, b"x"), "a full peer is there"
    read = 0
    deadline = time.monotonic() + 60
    while read < sent and time.monotonic() < deadline:
        assert router.retry() == []
        while peer.poll(10):
            assert int(peer.recv()[:6]) == read
            read += 1
    assert read == sent
    assert not router.waiting


def test_who_never_reads_is_given_up(router: Router, peer: zmq.Socket[bytes]) -> None:
    session = session_of(router, peer)
    while router.send(session, bytes(20_000)):
        pass
    assert not router.waiting


def test_who_leaves_is_gone_also_with_something_waiting(router: Router, peer: zmq.Socket[bytes]) -> None:
    session = session_of(router, peer)
    while not router.waiting:
        assert router.send(session, bytes(20_000))
    peer.close(0)
    deadline = time.monotonic() + 60
    gone: list[bytes] = []
    while not gone and time.monotonic() < deadline:
        router.socket.poll(10)  # as the loop does: ZeroMQ lets a full peer go when it finds no more to read from it
        gone = router.retry()
    assert gone == [session]
    assert not router.waiting


def test_an_address_that_cannot_be_had_is_one_line(router: Router) -> None:
    with pytest.raises(DefinitionError, match=f"address {router.endpoint}: the port is in use already"):
        Router(router.endpoint)
    with pytest.raises(DefinitionError, match="address tcp://no-such-host"):
        Router("tcp://no-such-host:1")

"""A line against a bare ROUTER: nothing that came before the end is lost, and an end is told once it is one."""

from __future__ import annotations

import gc
import itertools
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import zmq

from client import ConnectionLost, ForetellError, ProtocolError, contexts
from client.transport import RECEIVE_FRAMES_MAX, Transport

PATIENCE_SECONDS = 60


class Heard:
    """What a session would be handed."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.lost: ForetellError | None = None

    def receive(self, frame: bytes) -> None:
        self.frames.append(frame)

    def lose(self, error: ForetellError) -> None:
        self.lost = self.lost or error


@contextmanager
def router() -> Iterator[tuple[zmq.Socket[bytes], str]]:
    with zmq.Context() as context:
        bound = context.socket(zmq.ROUTER)
        bound.setsockopt(zmq.LINGER, PATIENCE_SECONDS * 1_000)
        bound.bind("tcp://127.0.0.1:0")
        yield bound, bound.getsockopt_string(zmq.LAST_ENDPOINT)
        bound.close()


def receive_until_lost(line: Transport, heard: Heard) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while heard.lost is None:
        assert time.monotonic() < deadline
        line.receive(heard, 1.0)  # type: ignore[arg-type]  # as much of a session as a line needs


def said_hello(bound: zmq.Socket[bytes], line: Transport) -> bytes:
    assert line.send(b"hello")
    assert bound.poll(PATIENCE_SECONDS * 1_000)
    key, frame = bound.recv_multipart()
    assert frame == b"hello"
    return key


@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2 * RECEIVE_FRAMES_MAX + 7])
def test_what_came_last_is_here_when_the_end_is_told(patient: bool, count: int) -> None:
    for _ in range(10):
        heard = Heard()
        with router() as (bound, address):
            line = Transport(address, patient=patient)
            key = said_hello(bound, line)
            for number in range(count):
                bound.send_multipart((key, b"%d" % number))
            bound.close()
            receive_until_lost(line, heard)
        assert heard.frames == [b"%d" % number for number in range(count)]
        assert isinstance(heard.lost, ConnectionLost)
        assert str(heard.lost) == f"the connection to the broker at {address} has ended: connect again"
        line.close()
        line.close()
        assert line.closed


def test_a_receive_takes_a_bounded_number_and_goes_on_where_it_stopped() -> None:
    heard = Heard()
    with router() as (bound, address):
        line = Transport(address)
        key = said_hello(bound, line)
        for _ in range(RECEIVE_FRAMES_MAX + 1):
            bound.send_multipart((key, b""))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(heard.frames) <= RECEIVE_FRAMES_MAX:
            assert time.monotonic() < deadline
            assert line.receive(heard, 1.0) <= RECEIVE_FRAMES_MAX  # type: ignore[arg-type]  # as above
        assert line.receive(heard) == 0  # type: ignore[arg-type]  # as above
        line.close()
    assert heard.lost is None


def test_where_nobody_listens_an_impatient_line_ends_and_a_patient_one_waits() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        impatient, patient = Transport(address, patient=False), Transport(address)
        heard, waiting = Heard(), Heard()
        receive_until_lost(impatient, heard)
        for _ in range(3):
            patient.receive(waiting, 0.15)  # type: ignore[arg-type]  # as above
        impatient.close()
        patient.close()
    assert str(heard.lost) == f"no broker answers at {address}"
    assert waiting.lost is None


def test_a_message_of_many_frames_is_no_message() -> None:
    heard = Heard()
    with router() as (bound, address):
        line = Transport(address)
        key = said_hello(bound, line)
        bound.send_multipart((key, b"one", b"two", b"three"))
        receive_until_lost(line, heard)
        line.close()
    assert isinstance(heard.lost, ProtocolError)
    assert str(heard.lost) == "expected a message of one frame, found 3"
    assert heard.frames == []


def test_lines_share_a_context_that_ends_with_the_last_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts, "TRANSPORTS_MAX", 2)
    pool = contexts._Pool()
    monkeypatch.setattr(contexts, "_pool", pool)
    lines = [Transport("tcp://127.0.0.1:9") for _ in range(5)]
    shared = [line._shared for line in lines]
    assert [one is other for one, other in itertools.pairwise(shared)] == [True, False, True, False]
    lines.pop(0).close()
    assert shared[0].transports == 1
    lines.append(Transport("tcp://127.0.0.1:9"))
    assert lines[-1]._shared is shared[0], "there is room again"
    for line in lines:
        line.close()
    assert all(each.transports == 0 and each.context.closed for each in shared)
    assert pool.open == []


def test_an_address_that_is_none_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = contexts._Pool()
    monkeypatch.setattr(contexts, "_pool", pool)
    with pytest.raises(ConnectionLost, match="found 'nonsense'"):
        Transport("nonsense")
    assert pool.open == []


def test_a_context_without_room_for_another_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts, "SOCKETS_MAX", 5)
    monkeypatch.setattr(contexts, "_pool", contexts._Pool())
    line = Transport("tcp://127.0.0.1:9")
    with pytest.raises(ConnectionLost, match=r"^tcp://127.0.0.1:9: cannot open a socket: Too many open files$"):
        Transport("tcp://127.0.0.1:9")
    assert line._shared.transports == 1
    line.close()


@pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning", "ignore:Destroying:ResourceWarning")
def test_a_context_whose_lines_were_dropped_ends_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = contexts._Pool()
    monkeypatch.setattr(contexts, "_pool", pool)
    line: Transport | None = Transport("tcp://127.0.0.1:9")
    (reference,) = pool.open
    del line
    gc.collect()
    assert reference() is None

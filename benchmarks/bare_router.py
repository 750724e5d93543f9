"""A ROUTER that stands where a broker would, and its two ends: what the machine and ZeroMQ take by themselves.

    python -m benchmarks.bare_router        says its address, and serves until it is ended

A publisher's message has two frames, what is published and what the subscriber is to get. The ROUTER sends the second
one on, and a receipt back. Nothing of Foretell is used.
"""

from __future__ import annotations

import json
from contextlib import suppress
from time import perf_counter
from typing import Any, Final, Self, final

import msgpack
import zmq

READY: Final = b"ready"
RESULT_BYTES: Final = 100  # of what the subscriber gets, about as many as of a notification


@final
class Bare:
    """The publisher's end, in the form of a sender of broker_latency. A context manager."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.connect(address)

    def prepared(self, rows: list[tuple[str, int, int]]) -> bytes:
        """As many bytes as the rows have on the way to a broker."""
        packed: bytes = msgpack.packb(rows)
        return packed

    def send(self, times: list[int], prepared: bytes) -> None:
        """A message, and the receipts that have come."""
        self._socket.send_multipart([prepared, times[0].to_bytes(RESULT_BYTES, "big")])
        with suppress(zmq.Again):
            while True:
                self._socket.recv(zmq.NOBLOCK)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._context.destroy(linger=0)


def read_bare(address: str, count: int) -> list[float]:
    """The subscriber's end: say `ready`, then read so many messages; when each was read."""
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.connect(address)
    socket.send_multipart([READY, b""])
    if socket.recv() != READY:
        raise SystemExit("the bare ROUTER did not answer")
    print(json.dumps(READY.decode()), flush=True)
    read: list[float] = []
    for _ in range(count):
        socket.recv()
        read.append(perf_counter())
    context.destroy(linger=0)
    return read


def serve() -> None:
    """Route for ever."""
    router: Any = zmq.Context().socket(zmq.ROUTER)
    port = router.bind_to_random_port("tcp://127.0.0.1")
    print(json.dumps(f"tcp://127.0.0.1:{port}"), flush=True)
    subscriber = b""
    while True:
        sender, body, result = router.recv_multipart()
        if body == READY:
            subscriber = sender
            router.send_multipart([sender, READY])
        else:
            router.send_multipart([subscriber, result])
            router.send_multipart([sender, b""])


if __name__ == "__main__":
    serve()

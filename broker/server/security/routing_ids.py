"""Prevents peers from guessing or choosing the routing id of another connection.

A ROUTER numbers its connections from a start that it draws with `rand()`, which libzmq does not seed, so it is the same
in every process. A peer that knows the next number can claim it first, and libzmq (4.3.5) then ends the process by an
assertion; a peer that knows the number of a client that has just left might receive its messages. So this module seeds
`rand()` with 32 bits of the system's randomness, which makes both a matter of luck.

A peer can improve its luck by holding many ids, far apart, until the numbers reach one. That cannot be prevented,
because libzmq shows an id only after it has accepted it. But a message with an id that was not assigned is detected
here: libzmq counts up by one, and its first number and the number of connections since are known. A silent connection
is soon ended (connections.py), and the numbers grow at a bounded rate (rates.py).
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from typing import Final, final

import zmq

_ENDPOINT: Final = "inproc://foretell.first"
_ASSIGNED_BYTES: Final = 5
_NUMBERS: Final = 2**32
_SEED_BYTES: Final = 4


def scatter() -> None:
    """Make the routing ids of the next ROUTER begin at a random number. Does nothing without a libc."""
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).srand(ctypes.c_uint(int.from_bytes(os.urandom(_SEED_BYTES), "little")))


def reserved(session: bytes) -> bool:
    """Whether a routing id has the form that libzmq assigns; a peer has chosen one of another form."""
    return len(session) == _ASSIGNED_BYTES and session[0] == 0


@final
class Assigned:
    """The routing ids that a ROUTER has assigned. Must be constructed before it listens."""

    __slots__ = ("_first",)

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], socket: zmq.Socket[bytes]) -> None:
        """Connect a peer within this process, whose id shows where the ids begin."""
        socket.bind(_ENDPOINT)
        with context.socket(zmq.DEALER) as peer:
            peer.linger = 0
            peer.connect(_ENDPOINT)
            peer.send(b"")
            session, _ = socket.recv_multipart()
        socket.unbind(_ENDPOINT)
        self._first: Final = _number(session)

    def holds(self, session: bytes, connections: int) -> bool:
        """Whether this id may belong to one of `connections` later connections."""
        return reserved(session) and 0 < (_number(session) - self._first) % _NUMBERS <= connections


def _number(session: bytes) -> int:
    return int.from_bytes(session[1:], "big")

"""That nobody can guess or choose the routing id of another connection, and how little a guess is worth.

A ROUTER numbers its connections from a start that it draws with `rand()`, which libzmq does not seed: it begins at the
same number in every process. Who knows the next number can claim it first, and libzmq (4.3.5) then ends the process by
an assertion; who knows the last one of somebody who has just gone might be sent what was meant for them. So `rand()`
is seeded here, with 32 bits of the system's randomness. That makes both a matter of luck and not of knowledge.

Luck can be helped by holding many ids, far apart, until the numbers reach one. libzmq shows nobody an id before it has
taken it, so that this cannot be made impossible. But whoever says something with an id that was not assigned is found
out here: libzmq counts up by one, its first number is known, and so is how many connections there were since. Whoever
says nothing is not there for long (connections), and the numbers go on at a bounded rate (rates).
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
    """Before a ROUTER is made: its routing ids begin where nobody can guess. Does nothing without a libc."""
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).srand(ctypes.c_uint(int.from_bytes(os.urandom(_SEED_BYTES), "little")))


def reserved(session: bytes) -> bool:
    """Whether a routing id has the form of those that libzmq assigns; one of another form was chosen by its peer."""
    return len(session) == _ASSIGNED_BYTES and session[0] == 0


@final
class Assigned:
    """The routing ids that a ROUTER has assigned. To be made before it listens."""

    __slots__ = ("_first",)

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], socket: zmq.Socket[bytes]) -> None:
        """Have an id assigned to a peer within this process, to know where they begin."""
        socket.bind(_ENDPOINT)
        with context.socket(zmq.DEALER) as peer:
            peer.linger = 0
            peer.connect(_ENDPOINT)
            peer.send(b"")
            session, _ = socket.recv_multipart()
        socket.unbind(_ENDPOINT)
        self._first: Final = _number(session)

    def holds(self, session: bytes, connections: int) -> bool:
        """Whether this id may have been assigned to one of so many connections since."""
        return reserved(session) and 0 < (_number(session) - self._first) % _NUMBERS <= connections


def _number(session: bytes) -> int:
    return int.from_bytes(session[1:], "big")

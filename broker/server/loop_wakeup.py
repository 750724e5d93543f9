"""Wakes the loop from a signal or another thread: a byte in a socket pair that the loop listens to.

That is safe in a signal handler. Python itself writes the number of each signal; requests of other threads have numbers
that no signal has.
"""

from __future__ import annotations

import signal
import socket
from contextlib import suppress
from enum import Enum
from typing import Final, final

_REPORT_BYTE: Final = 0x80
_STORED_BYTE: Final = 0x81
_BYTES_MAX: Final = 256


class LoopRequest(Enum):
    """A request of a signal or another thread to the loop."""

    STOP = 0
    RELOAD = int(signal.SIGHUP)
    REPORT = _REPORT_BYTE
    STORED = _STORED_BYTE
    """A disk operation has ended: the loop should advance its gate."""


@final
class LoopWakeup:
    """A socket pair, neither end of which ever blocks."""

    __slots__ = ("reader", "writer")

    def __init__(self) -> None:
        self.reader, self.writer = socket.socketpair()
        self.reader.setblocking(False)
        self.writer.setblocking(False)

    def ask(self, request: LoopRequest) -> None:
        """Wake the loop with a request, from any thread. If there is no room, the loop is about to wake anyway."""
        with suppress(BlockingIOError):
            self.writer.send(bytes((request.value,)))

    def take(self) -> list[LoopRequest]:
        """The requests since the last call."""
        try:
            asked = self.reader.recv(_BYTES_MAX)
        except BlockingIOError:
            return []
        known = {each.value: each for each in (LoopRequest.RELOAD, LoopRequest.REPORT, LoopRequest.STORED)}
        return [known.get(byte, LoopRequest.STOP) for byte in asked]

    def close(self) -> None:
        """Close both ends."""
        self.reader.close()
        self.writer.close()

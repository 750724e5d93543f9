"""Who may use a client: the thread, or the event loop, and the process that opened it.

Sockets of ZeroMQ belong to a thread, and the inboxes of a session to whoever reads them. So a call from elsewhere is
refused before it changes anything, in memory or at the broker. A forked process has a copy of the inboxes: whatever it
took out of its copy, its parent would deliver too.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import final

from .errors import ConnectionLost, WrongThread


@final
class _Process:
    """`forks`: how many processes since this module was loaded, each forked off the one before, led to this one.
    Looking at it costs a tenth of asking the system for the number of the process."""

    def __init__(self) -> None:
        self.forks = 0

    def forked(self) -> None:
        self.forks += 1


_process = _Process()
if sys.platform != "win32":  # where there are forks
    os.register_at_fork(after_in_child=_process.forked)


class _Opener:
    """The process that opened a client."""

    __slots__ = ("_forks", "_number")

    def __init__(self) -> None:
        self._forks = _process.forks
        self._number = os.getpid()

    @property
    def inherited(self) -> bool:
        """Whether this process was forked off the one that opened the client, or off one that was."""
        return self._forks != _process.forks

    def _refuse_process(self) -> ConnectionLost:
        return ConnectionLost(f"this client belongs to process {self._number}, which opened it: open one here")


@final
class ThreadOwner(_Opener):
    """The thread in which it is made."""

    __slots__ = ("_identity", "_thread")

    def __init__(self) -> None:
        super().__init__()
        self._identity = threading.get_ident()
        self._thread = threading.current_thread()

    @property
    def ended(self) -> bool:
        """Whether the thread has ended, so that another may close what it has left."""
        return not self._thread.is_alive()

    def check(self) -> None:
        """Raise ConnectionLost in a forked process, WrongThread in another thread."""
        if self._forks != _process.forks:
            raise self._refuse_process()
        if threading.get_ident() != self._identity:
            here, owner = threading.current_thread().name, self._thread.name
            raise WrongThread(f"this client belongs to the thread {owner!r}, found {here!r}: open one there")


@final
class LoopOwner(_Opener):
    """The event loop that runs where it is made."""

    __slots__ = ("_loop",)

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()

    def check(self) -> None:
        """Raise ConnectionLost in a forked process, WrongThread outside of the loop."""
        if self._forks != _process.forks:
            raise self._refuse_process()
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:  # none runs in this thread
            here = None
        if here is not self._loop:
            raise WrongThread("this client belongs to another event loop, which opened it: open one in this loop")

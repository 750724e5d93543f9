"""The ZeroMQ contexts that transports share. No socket is made here.

A context is two threads and five files, and its end waits for its sockets. So the lines of a process share a context,
up to LINES_MAX of them: a thousand clients that come back at once must not start two thousand threads. It ends with the
last of its lines, so that a program without a client has no thread of ours. A fork has the parent's contexts but not
their threads: it forgets them and begins with none, and whoever inherits a line must leave that alone.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from typing import Final, final

import zmq

LINES_MAX: Final = 256
"""More of them have another context, and another thread that reads and writes for them."""
SOCKETS_MAX: Final = 16 * LINES_MAX
"""A line is three sockets, and one that was closed still counts until a thread of ZeroMQ has come to it."""


@final
class SharedContext:
    """A context, and how many lines it serves. Whoever has one uses `context` until `give_back`, from any thread."""

    __slots__ = ("__weakref__", "context", "lines")

    def __init__(self) -> None:
        self.context = zmq.Context()
        self.context.set(zmq.MAX_SOCKETS, SOCKETS_MAX)
        self.lines = 0

    def give_back(self) -> None:
        """Once for each time it was had, when the sockets are closed."""
        with _pool.lock:
            self.lines -= 1
            if self.lines:
                return
            _pool.open = [known for known in _pool.open if known() is not self]
        self.context.term()


@final
class _Pool:
    """Weak, so that a context whose lines were dropped without being closed ends with them, as a socket does."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """In a fork: the lock may have been held by a thread that is not here."""
        self.lock = threading.Lock()
        self.open: list[weakref.ref[SharedContext]] = []


_pool = _Pool()
if sys.platform != "win32":  # where there are forks
    os.register_at_fork(after_in_child=_pool.forget)


def shared_context() -> SharedContext:
    """A context for one more line. O(contexts)."""
    with _pool.lock:
        known = [shared for reference in _pool.open if (shared := reference()) is not None]
        found = next((shared for shared in known if shared.lines < LINES_MAX), None)
        if found is None:
            found = SharedContext()
            known.append(found)
        found.lines += 1
        _pool.open = [weakref.ref(shared) for shared in known]
        return found

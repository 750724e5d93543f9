"""The ZeroMQ contexts that transports share. No socket is made here.

A context has two threads and five files, and closing it waits for its sockets. So up to TRANSPORTS_MAX transports of a
process share a context: a thousand clients must not start two thousand threads. A context ends with the last of its
transports, so that a program without a client has no thread of this package. A forked process has the parent's contexts
but not their threads. It forgets them and begins without any; it must not use or close an inherited transport.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from typing import Final, final

import zmq

TRANSPORTS_MAX: Final = 256
"""Further transports get another context, with another thread that reads and writes for them."""
SOCKETS_MAX: Final = 16 * TRANSPORTS_MAX
"""A transport has three sockets, and a closed one counts until a thread of ZeroMQ has processed it."""


@final
class SharedContext:
    """A context and the number of its transports. A holder may use `context` from any thread until `release`."""

    __slots__ = ("__weakref__", "context", "transports")

    def __init__(self) -> None:
        self.context = zmq.Context()
        self.context.set(zmq.MAX_SOCKETS, SOCKETS_MAX)
        self.transports = 0

    def release(self) -> None:
        """Give the context back, once for each `shared_context`, after the sockets were closed."""
        with _pool.lock:
            self.transports -= 1
            if self.transports:
                return
            _pool.open = [known for known in _pool.open if known() is not self]
        self.context.term()


@final
class _Pool:
    """The open contexts, as weak references: a context whose transports were never closed ends with them."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew in a forked process, with a new lock: a thread of the parent may have held the old one."""
        self.lock = threading.Lock()
        self.open: list[weakref.ref[SharedContext]] = []


_pool = _Pool()
if sys.platform != "win32":  # where there are forks
    os.register_at_fork(after_in_child=_pool.forget)


def shared_context() -> SharedContext:
    """A context for one more transport. O(contexts)."""
    with _pool.lock:
        known = [shared for reference in _pool.open if (shared := reference()) is not None]
        found = next((shared for shared in known if shared.transports < TRANSPORTS_MAX), None)
        if found is None:
            found = SharedContext()
            known.append(found)
        found.transports += 1
        _pool.open = [weakref.ref(shared) for shared in known]
        return found

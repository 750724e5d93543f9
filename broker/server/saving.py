"""Serialises the state at one moment, in the loop or in a forked child, so that the loop does not block.

Both make the same bytes. In the loop, all clients wait. A forked child costs the time to fork, and memory: each page
that either process changes from then on exists twice.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final, Literal, Protocol, final

from ..storage.checkpoint import DIGEST_BYTES
from ..storage.store import SavedState
from . import forking
from .logs import say
from .replicated_state import ReplicatedState, digest_of

Way = Literal["fork", "loop"]
WAYS: Final[tuple[Way, ...]] = ("fork", "loop")


class Saved(SavedState, Protocol):
    """A state of one moment that is being serialised."""

    @property
    def beside(self) -> bool:
        """Whether a forked child serialises it, beside the loop."""

    def discard(self) -> None:
        """Abandon it; `take` then returns early, and nothing is left of it. From any thread."""


class Saving(Protocol):
    """A way to save a state."""

    def begin(self, state: ReplicatedState) -> Saved:
        """Begin to serialise the state of this moment. Raises errors that occur at once."""


@final
class InLoop:
    """Serialises the state at once, and makes the digest in the thread that calls `take`."""

    __slots__ = ()

    def begin(self, state: ReplicatedState) -> Saved:
        return _Made(state.save())


@final
class InCopy:
    """Makes bytes and digest in a forked child; in the loop if the system cannot fork."""

    __slots__ = ()

    def begin(self, state: ReplicatedState) -> Saved:
        try:
            return _Copied(forking.Forked(lambda: _pieces(state)))
        except OSError as error:
            say(logging.WARNING, "no process for a checkpoint, made in the loop", reason=error.strerror or str(error))
            return InLoop().begin(state)


def saving(way: Way) -> Saving:
    """The way of this name; on systems without fork always in the loop."""
    return InCopy() if way == "fork" and forking.possible() else InLoop()


@final
class _Made:
    __slots__ = ("_body",)

    def __init__(self, body: bytes) -> None:
        self._body = body

    @property
    def beside(self) -> bool:
        return False

    def take(self) -> tuple[bytes, bytes]:
        return digest_of(self._body), self._body

    def discard(self) -> None:
        """Do nothing: the bytes are made already."""


@final
class _Copied:
    __slots__ = ("_copy",)

    def __init__(self, copy: forking.Forked) -> None:
        self._copy = copy

    @property
    def beside(self) -> bool:
        return True

    def take(self) -> tuple[bytes, bytes]:
        with self._copy.result() as file:
            return file.read(DIGEST_BYTES), file.readall()

    def discard(self) -> None:
        self._copy.discard()


def _pieces(state: ReplicatedState) -> Iterator[bytes]:
    body = state.save()
    yield digest_of(body)
    yield body

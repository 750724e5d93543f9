"""Serialises the state at one moment, in the loop or in a forked copy, so that the loop need not stop.

Both give the same bytes. Made at once, everybody waits for as long as it takes; a copy costs the time to fork, and
memory, as what either of the two changes from then on is there twice.
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
    """A state of one moment, in the making."""

    @property
    def beside(self) -> bool:
        """Whether it is made beside the loop."""

    def discard(self) -> None:
        """It is not wanted any more: nothing of it is left, once `take` has come back. From any thread."""


class Saving(Protocol):
    """A way to save a state."""

    def begin(self, history: ReplicatedState) -> Saved:
        """Of this moment. Raises whatever goes wrong with it at once."""


@final
class InLoop:
    """Its bytes are made where it is asked for, its digest where that is waited for."""

    __slots__ = ()

    def begin(self, history: ReplicatedState) -> Saved:
        return _Made(history.save())


@final
class InCopy:
    """Bytes and digest are made by a copy of the process; in the loop where the system gives none."""

    __slots__ = ()

    def begin(self, history: ReplicatedState) -> Saved:
        try:
            return _Copied(forking.Forked(lambda: _pieces(history)))
        except OSError as error:
            say(logging.WARNING, "no process for a checkpoint, made in the loop", reason=error.strerror or str(error))
            return InLoop().begin(history)


def saving(way: Way) -> Saving:
    """The way of this name; in the loop where a system has no other."""
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
        """Nothing is under way."""


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


def _pieces(history: ReplicatedState) -> Iterator[bytes]:
    body = history.save()
    yield digest_of(body)
    yield body

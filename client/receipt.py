"""The broker's answer to a batch, and what tells a program that does not look at it that nothing was taken."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType
from typing import final

from broker.wire import Failure, Refusal

from .errors import remote_error

__all__ = ["Receipt", "Refusal", "RefusedWarning", "warn_of_refused"]


@final
class RefusedWarning(UserWarning):
    """Every event of a batch was refused, too late or too early. Given once by each client for each stream."""


@final
@dataclass(frozen=True, slots=True)
class Receipt:
    """The broker's engine has accepted `count` events. `refused`: the others, too late or too early, with reasons.

    `first_id`: where the broker numbers the events, the accepted ones have consecutive ids from this one on (in a batch
    of several messages beside other publishers, within each message); None otherwise. `newest`: the newest time that
    the broker has processed, in microseconds; None before the first event. `durability`: what the accepted events
    survive: `memory`, or with a journal `os`, `interval ...us` or `always`. `held_back`: a sentence, if events of this
    stream have waited for a related one for more than ten seconds: for which, and why; else None.
    """

    count: int
    newest: int | None
    first_id: int | None
    refused: tuple[Refusal, ...] = ()
    durability: str = "memory"
    held_back: str | None = None

    def raise_for_refused(self) -> None:
        """Raise LateEvent or EarlyEvent if an event was refused, as `publish` does, with the row of the first one and
        how many more there are. The events of `count` are taken nevertheless.
        """
        if self.refused:
            first, more = self.refused[0], len(self.refused) - 1
            rest = f" (and {more:,} more of {self.count + 1 + more:,} events)" if more else ""
            raise remote_error(Failure(0, first.code, f"row {first.index}: {first.reason}{rest}"))


def warn_of_refused(warned: set[str], stream: str, receipts: Iterable[Receipt]) -> None:
    """Give a RefusedWarning for a batch of which nothing was taken, unless `warned` has the stream. O(receipts)."""
    for receipt in receipts:
        if receipt.count == 0 and receipt.refused and stream not in warned:
            warned.add(stream)
            count, reason = len(receipt.refused), receipt.refused[0].reason
            warnings.warn(
                f"stream {stream!r}: all {count:,} events of a batch were refused ({reason}): look at the receipt's "
                "refused, or call its raise_for_refused(); this is said once",
                RefusedWarning,
                stacklevel=_program(),
            )


def _program() -> int:
    """How far up the stack of who warns the program is, outside of this package."""
    level, package = 1, __name__.partition(".")[0]
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level

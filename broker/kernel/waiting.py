"""Law: what has to wait while a batch is in work, so that the state stays a fold over whole records.

A batch that takes long is matched in pieces, and what comes in between is handled at once, if it neither changes what
the rest of the batch will find nor leaves a record whose effect depends on the batch. Everything else waits until the
batch is through; in doubt, also what may be added one day.
"""

from __future__ import annotations

from typing import Final

from ..wire import (
    AskProbability,
    Credit,
    DescribeStream,
    Hello,
    ListStreams,
    ListSubscriptions,
    Ping,
    Statistics,
)
from .boundary import Change, Gone, Input, Received

_AT_ONCE: Final = frozenset(
    (AskProbability, Credit, DescribeStream, Hello, ListStreams, ListSubscriptions, Ping, Statistics)
)


def must_wait(happening: Input) -> bool:
    """Whether the kernel would have to end the batch in work first. O(1)."""
    if isinstance(happening, Received):
        return type(happening.message) not in _AT_ONCE
    return isinstance(happening, Gone | Change)

"""The broker's answer to a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from broker.wire import Refusal

__all__ = ["Receipt", "Refusal"]


@final
@dataclass(frozen=True, slots=True)
class Receipt:
    """The broker's engine has accepted `count` events. `refused`: the others, too late or too early, with reasons.

    `first_id`: where the broker numbers the events, the accepted ones have consecutive ids from this one on (in a batch
    of several messages beside other publishers, within each message); None otherwise. `newest`: the newest time that
    the broker has processed, in microseconds; None before the first event. `durability`: what the accepted events
    survive: `memory`, or with a journal `os`, `interval ...us` or `always`.
    """

    count: int
    newest: int | None
    first_id: int | None
    refused: tuple[Refusal, ...] = ()
    durability: str = "memory"

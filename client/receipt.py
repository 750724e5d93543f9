"""The broker's answer to a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from broker.wire import Refusal

__all__ = ["Receipt", "Refusal"]


@final
@dataclass(frozen=True, slots=True)
class Receipt:
    """The broker's engine has taken `count` events. `refused` are the others, too late or too early, with reasons.

    Where the broker numbers the events, the ones taken have the ids from `first_id` on, in order. (In a batch of many
    parts with other publishers beside it, each part is numbered without a gap.) `newest` is the newest time that the
    broker has processed. None where there is no such. `durability` is what the broker promises: `memory`, or on its
    journal `os`, `interval ...us` or `always`.
    """

    count: int
    newest: int | None
    first_id: int | None
    refused: tuple[Refusal, ...] = ()
    durability: str = "memory"

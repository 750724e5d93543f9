"""Law: the values that some messages have several of; on the wire each is an array of its fields. No messages here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class Refusal:
    """One event of a batch was not taken: its index in the batch, the error's code and its line. Part of Published."""

    index: int
    code: str
    reason: str


@final
@dataclass(frozen=True, slots=True)
class SubscriptionEntry:
    """A subscription, how many clients are attached, and how many results wait for them. Part of Subscriptions.
    `cursors`: those that the user who asks may see, by name, each with how many results of it are not acknowledged."""

    name: str
    language: str
    query: str
    subscribers: int
    queued: int
    cursors: dict[str, Any] = field(default_factory=dict)

"""A stream that a sequence of events is merged from, and what parts it (BY, equivalence attributes).

Here: that value. Not here: which events of a partition count (each language's meaning).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..events.schema import Schema


@dataclass(frozen=True, slots=True)
class PartitionedStream:
    """`key`: the positions of the attributes that part it, () if nothing does; an event with a null among them is in no
    partition, and nothing takes it."""

    stream: str
    schema: Schema
    key: tuple[int, ...]

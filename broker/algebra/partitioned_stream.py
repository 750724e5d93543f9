"""An input stream of a query, and the attributes that partition it (BY, equivalence attributes).

Here: that value. Not here: which events of a partition count (the semantics of each language).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..events.schema import Schema


@dataclass(frozen=True, slots=True)
class PartitionedStream:
    """A stream and its partition key: `key` has the positions of the attributes, () if there are none. An event with a
    null among them is in no partition, and no match contains it. `timed`: the query reads the time of its events, as an
    attribute behind those of the schema."""

    stream: str
    schema: Schema
    key: tuple[int, ...]
    timed: bool = False

"""What the rows of machines have for each target, for an event that is not in their batch."""

from __future__ import annotations

from broker.engine.matches.completions import HEADER, LIMIT, Completions
from broker.engine.matches.composed import Composed
from broker.engine.program.account import NOT_SUSPENDED
from broker.engine.program.target import Target
from broker.events.schema import Row


def composed_of(found: Completions, row: Row, time: int, item: int, at: int = 0) -> list[tuple[Target, Composed]]:
    """Of the rows from a place on."""
    parts: list[tuple[Target, Composed]] = []
    while at < found.upto:
        numbers = found.numbers
        audience = found.audiences[numbers[at + 1]]
        reason = int(numbers[at + 3]) if numbers[at + 2] == LIMIT else NOT_SUSPENDED
        for target, part in found.parts_at(at, lambda _: (row, time, item)):
            parts.append((target, Composed(part, not audience.compressed, None, reason)))
        at += HEADER + int(numbers[at + 4])
    return parts

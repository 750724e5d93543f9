"""How much work one answer may cost, so that patterns with very many partial matches have reasons, too.

One step is a partial match that is compared with an event, or made by it. Where the steps run short, the partial
matches that are nearest to what is asked are followed, and the answer says how many others were left out. What is told
of those that are followed stays true, for a partial match does not depend on others. Steps are counted, not measured,
so that the same question has the same answer everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar, final

from ...events.errors import LimitExceeded

Begun = TypeVar("Begun")
REASONS_STEPS_MAX: Final = 1_000_000
"""Steps of one answer; the seconds that they take are a broker's to limit."""
RUNS_FOLLOWED_LEAST: Final = 10
"""Partial matches that are followed at every event, also beyond that."""


@final
class ReasonsBudget:
    """`left`: steps. `events`: how many are still to come. `left_out`: partial matches that were not followed.
    `suspended`: publishers of streams that are read, which had to end. `whole`: the answer needs all of what it asks
    for, so that it is refused beyond the limit."""

    def __init__(self, events: int, whole: bool) -> None:
        self.left = REASONS_STEPS_MAX
        self.events = events
        self.left_out = 0
        self.suspended: list[str] = []
        self.whole = whole

    def spend(self, steps: int) -> None:
        """Raises LimitExceeded if the answer needs the `whole`, and there are not so many."""
        self.left -= steps
        if self.whole and self.left < 0:
            raise LimitExceeded(
                f"REASONS_STEPS_MAX: looking for the match takes more than {REASONS_STEPS_MAX:,} steps of partial "
                "matches; with fewer events it takes less"
            )

    def paid(self, begun: Sequence[Begun]) -> Iterator[Begun]:
        """Partial matches as long as there are steps left; the others are left out."""
        for at, each in enumerate(begun):
            if self.left < 0:
                self.left_out += len(begun) - at
                return
            yield each

    def room(self) -> int:
        """How many partial matches may be followed now."""
        return max(RUNS_FOLLOWED_LEAST, self.left // max(1, self.events))

    def cut(self) -> str:
        """What an answer says that was cut short; "" if it is whole."""
        told = [f"{self.left_out:,} partial matches that are farther away were left out"] if self.left_out else []
        told += [f"{name} was suspended, whose results are read here" for name in self.suspended]
        return f"REASONS_STEPS_MAX: {'; '.join(told)}" if told else ""

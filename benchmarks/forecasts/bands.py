"""The paper's full model, which remembers the bands of the last five days: 1 + 4 + 16 + 64 + 256 + 1024 states.

A state is a word of bands, the empty one before a station's first day. Words of five hot days are final, and the words
after them go on where they are. Rows are counted before the test begins, a half being added to each successor.
"""

from __future__ import annotations

from itertools import product
from typing import Final, final

from broker.forecast.chain import counted_chain, shape
from broker.forecast.counts import CountTable, GenerationClock
from broker.forecast.passage import Passage, first_passage

from .walks import Walk

BANDS: Final = 4
HOT: Final = 3  # the highest
DAYS: Final = 5

Word = tuple[int, ...]


@final
class FullModel:
    """The states, and the word that a day's band leads to."""

    def __init__(self) -> None:
        self.words: list[Word] = [word for length in range(DAYS + 1) for word in product(range(BANDS), repeat=length)]
        self.numbers: dict[Word, int] = {word: number for number, word in enumerate(self.words)}
        self.following = [[self.numbers[(*word, band)[-DAYS:]] for band in range(BANDS)] for word in self.words]
        self.final = self.numbers[(HOT,) * DAYS]

    def states(self, walk: Walk, bands: list[int]) -> list[int]:
        """The state after each event. O(events)."""
        last = [0] * len(walk.names)
        found: list[int] = []
        for run, band in zip(walk.runs, bands):
            last[run] = self.following[last[run]][band]
            found.append(last[run])
        return found

    def trained(self, walk: Walk, states: list[int], before: int, horizon: int) -> Passage:
        """First passages from what was counted before a time. O(events + states x horizon)."""
        table = CountTable(GenerationClock())
        last = [0] * len(walk.names)
        for event, run in enumerate(walk.runs):
            if walk.times[event] < before:
                table.add(last[run], states[event])
                last[run] = states[event]
        known = shape(len(self.words), {self.final}, successors=self.following)
        return first_passage(counted_chain(table, known), horizon)

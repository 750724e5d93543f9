"""Chains one after the other as one chain: where the first reaches its final state, the next begins.

Where values of a context vary, a chain is one over states and marks. A later part begins with the mark that it has now:
the one that it will begin with is not known.

What a first passage through it says is the convolution of the parts' first passages (combining.in_sequence), for all
states of all parts and all horizons at once, in time linear in the horizon.

Here: that chain, as of the estimates that it was made of. Not here: what the parts are (parts, combination).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from ...forecast.chain import Chain, Row
from ...forecast.level import Level
from ...forecast.passage import Passage, first_passage
from ...forecast.place import Place
from ...forecast.product import Product


@final
class Serial:
    """First passages to its end; `begins`: where each part's numbers begin in it; `starts`: the number of each one's
    first state among these."""

    def __init__(
        self,
        sources: list[Level | Product],
        stamps: list[int],
        horizon: int,
        starts: list[int],
        begins: list[int],
        passage: Passage,
    ) -> None:
        self.sources = sources
        self.stamps = stamps
        self.horizon = horizon
        self.starts = starts
        self.begins = begins
        self.passage = passage

    def fresh(self, places: Sequence[Place]) -> bool:
        """Whether no estimate has been published since."""
        for at, place in enumerate(places):
            source = place.source()
            source.refresh()
            if source is not self.sources[at] or source.stamp != self.stamps[at]:
                return False
            if place.forecaster.horizon != self.horizon:
                return False
        return True


def serial(places: Sequence[Place]) -> Serial:
    """The chains of these places one after the other. O(horizon x edges)."""
    sources = [place.source() for place in places]
    starts = [place.number(0) for place in places]
    begins, chain = joined([place.chain() for place in places], starts)
    horizon = places[0].forecaster.horizon
    stamps = [source.stamp for source in sources]
    return Serial(sources, stamps, horizon, starts, begins, first_passage(chain, horizon))


def joined(chains: Sequence[Chain], starts: Sequence[int]) -> tuple[list[int], Chain]:
    """Chains whose last state is their only final one, as one of that form, and where each begins. `starts`: which of
    its states each begins in. O(edges)."""
    begins: list[int] = []
    rows: list[Row] = []
    continuations: dict[int, Row] = {}
    for number, chain in enumerate(chains):
        begin, last = len(rows), len(chain.rows) - 1
        begins.append(begin)
        shift = number < len(chains) - 1  # to where the next one begins, whose states are just behind the final one
        start = starts[number + 1] if shift else 0
        for state, row in enumerate(chain.rows):
            # Before the last part its end is a state like any other for who asks from there: all is to come once more.
            after = chain.continuations[last] if shift and state == last else row
            rows.append(_moved(after, begin, last if shift else -1, start))
        if not shift:
            continuations[begin + last] = _moved(chain.continuations[last], begin, -1, 0)
    return begins, Chain(tuple(rows), frozenset((len(rows) - 1,)), continuations)


def _moved(row: Row, begin: int, final_state: int, start: int) -> Row:
    """A row whose states have other numbers; `final_state`, the greatest, is where the next chain's `start` follows."""
    targets = tuple([begin + target + (1 + start if target == final_state else 0) for target in row.targets])
    return Row(targets, row.chances, row.weight)

"""Chains one after the other as one chain: where the first reaches its final state, the next begins.

What a first passage through it says is the convolution of the parts' first passages (combining.in_sequence), for all
states of all parts and all horizons at once, in time linear in the horizon.

Here: that chain, as of the estimates that it was made of. Not here: what the parts are (parts, combination).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from ...forecast.chain import Chain, Row
from ...forecast.forecaster import Place
from ...forecast.level import Level
from ...forecast.passage import Passage, first_passage


@final
class Serial:
    """First passages to its end; `begins`: the number of each part's start in it."""

    def __init__(
        self, levels: list[Level], stamps: list[int], horizon: int, begins: list[int], passage: Passage
    ) -> None:
        self.levels = levels
        self.stamps = stamps
        self.horizon = horizon
        self.begins = begins
        self.passage = passage

    def fresh(self, places: Sequence[Place]) -> bool:
        """Whether no estimate has been published since."""
        for at, place in enumerate(places):
            level = place.level()
            level.refresh()
            if level is not self.levels[at] or level.stamp != self.stamps[at]:
                return False
            if place.forecaster.horizon != self.horizon:
                return False
        return True


def serial(places: Sequence[Place]) -> Serial:
    """The chains of these places one after the other. O(horizon x edges)."""
    levels = [place.level() for place in places]
    begins, chain = joined([level.chain() for level in levels])
    horizon = places[0].forecaster.horizon
    return Serial(levels, [level.stamp for level in levels], horizon, begins, first_passage(chain, horizon))


def joined(chains: Sequence[Chain]) -> tuple[list[int], Chain]:
    """Chains whose last state is their only final one, as one of that form, and where each begins. O(edges)."""
    begins: list[int] = []
    rows: list[Row] = []
    continuations: dict[int, Row] = {}
    for number, chain in enumerate(chains):
        begin, last = len(rows), len(chain.rows) - 1
        begins.append(begin)
        shift = number < len(chains) - 1  # to where the next one begins, which is just behind the final state
        for state, row in enumerate(chain.rows):
            # Before the last part its end is a state like any other for who asks from there: all is to come once more.
            after = chain.continuations[last] if shift and state == last else row
            rows.append(_moved(after, begin, last if shift else -1))
        if not shift:
            continuations[begin + last] = _moved(chain.continuations[last], begin, -1)
    return begins, Chain(tuple(rows), frozenset((len(rows) - 1,)), continuations)


def _moved(row: Row, begin: int, final_state: int) -> Row:
    """A row whose states have other numbers; `final_state`, the greatest, is followed by the next chain's start."""
    targets = tuple([begin + target + (target == final_state) for target in row.targets])
    return Row(targets, row.chances, row.weight)

"""Chains in series as one chain: where the first reaches its final state, the next begins.

A first passage through the series is the convolution of the parts' first passages, for all states of all parts and all
horizons at once, in time linear in the horizon.

Here: that chain, as of the estimates that it was made of. Not here: what the parts are (combination).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from .chain import MarkovChain, TransitionRow
from .context_chain import ContextChain
from .level import Level
from .passage import Passage, first_passage


@final
class SeriesChain:
    """First passages to its end; `begins`: where each part's states begin in it."""

    def __init__(
        self,
        levels: list[Level],
        stamps: list[int],
        horizon: int,
        begins: list[int],
        passage: Passage,
    ) -> None:
        self.levels = levels
        self.stamps = stamps
        self.horizon = horizon
        self.begins = begins
        self.passage = passage

    def fresh(self, chains: Sequence[ContextChain]) -> bool:
        """Whether no estimate has been published since."""
        for at, chain in enumerate(chains):
            level = chain.level()
            level.refresh()
            if level is not self.levels[at] or level.stamp != self.stamps[at]:
                return False
            if chain.frame.horizon != self.horizon:
                return False
        return True


def in_series(chains: Sequence[ContextChain]) -> SeriesChain:
    """The series of these chains. O(horizon x edges)."""
    levels = [chain.level() for chain in chains]
    begins, whole = joined([level.chain() for level in levels])
    horizon = chains[0].frame.horizon
    stamps = [level.stamp for level in levels]
    return SeriesChain(levels, stamps, horizon, begins, first_passage(whole, horizon))


def joined(chains: Sequence[MarkovChain]) -> tuple[list[int], MarkovChain]:
    """Chains whose last state is their only final one, as one of that form, and where each begins. O(edges)."""
    begins: list[int] = []
    rows: list[TransitionRow] = []
    continuations: dict[int, TransitionRow] = {}
    for number, chain in enumerate(chains):
        begin, last = len(rows), len(chain.rows) - 1
        begins.append(begin)
        shift = number < len(chains) - 1  # to where the next one begins, just behind the final state
        for state, row in enumerate(chain.rows):
            # Before the last part its end is a state like any other: from there all is to come once more.
            after = chain.continuations[last] if shift and state == last else row
            rows.append(_moved(after, begin, last if shift else -1))
        if not shift:
            continuations[begin + last] = _moved(chain.continuations[last], begin, -1)
    return begins, MarkovChain(tuple(rows), frozenset((len(rows) - 1,)), continuations)


def _moved(row: TransitionRow, begin: int, final_state: int) -> TransitionRow:
    """A row whose states have other numbers; `final_state`, the greatest, is where the next chain follows."""
    targets = tuple([begin + target + (target == final_state) for target in row.targets])
    return TransitionRow(targets, row.chances, row.weight)

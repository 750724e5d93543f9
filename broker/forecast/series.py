"""Chains in series as one chain: where the first reaches its final state, the next begins.

Where values of a context vary, a chain is one over states and marks. A later part begins with the mark that it has now:
the one that it will begin with is not known.

A first passage through the series is the convolution of the parts' first passages (combining.in_sequence), for all
states of all parts and all horizons at once, in time linear in the horizon.

Here: that chain, as of the estimates that it was made of. Not here: what the parts are (combination).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from .chain import MarkovChain, TransitionRow
from .context_chain import ContextChain
from .level import Level
from .passage import Passage, first_passage
from .product import Product


@final
class SeriesChain:
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

    def fresh(self, chains: Sequence[ContextChain]) -> bool:
        """Whether no estimate has been published since."""
        for at, chain in enumerate(chains):
            source = chain.source()
            source.refresh()
            if source is not self.sources[at] or source.stamp != self.stamps[at]:
                return False
            if chain.forecaster.horizon != self.horizon:
                return False
        return True


def in_series(chains: Sequence[ContextChain]) -> SeriesChain:
    """The series of these chains. O(horizon x edges)."""
    sources = [chain.source() for chain in chains]
    starts = [chain.number(0) for chain in chains]
    begins, whole = joined([chain.markov() for chain in chains], starts)
    horizon = chains[0].forecaster.horizon
    stamps = [source.stamp for source in sources]
    return SeriesChain(sources, stamps, horizon, starts, begins, first_passage(whole, horizon))


def joined(chains: Sequence[MarkovChain], starts: Sequence[int]) -> tuple[list[int], MarkovChain]:
    """Chains whose last state is their only final one, as one of that form, and where each begins. `starts`: which of
    its states each begins in. O(edges)."""
    begins: list[int] = []
    rows: list[TransitionRow] = []
    continuations: dict[int, TransitionRow] = {}
    for number, chain in enumerate(chains):
        begin, last = len(rows), len(chain.rows) - 1
        begins.append(begin)
        shift = number < len(chains) - 1  # to where the next one begins, whose states are just behind the final one
        start = starts[number + 1] if shift else 0
        for state, row in enumerate(chain.rows):
            # Before the last part its end is a state like any other: from there all is to come once more.
            after = chain.continuations[last] if shift and state == last else row
            rows.append(_moved(after, begin, last if shift else -1, start))
        if not shift:
            continuations[begin + last] = _moved(chain.continuations[last], begin, -1, 0)
    return begins, MarkovChain(tuple(rows), frozenset((len(rows) - 1,)), continuations)


def _moved(row: TransitionRow, begin: int, final_state: int, start: int) -> TransitionRow:
    """A row whose states have other numbers; `final_state`, the greatest, is where the next chain's `start` follows."""
    targets = tuple([begin + target + (1 + start if target == final_state else 0) for target in row.targets])
    return TransitionRow(targets, row.chances, row.weight)

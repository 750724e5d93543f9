"""What each subscription of a shape draws, on the ticks of the market.

Each draws a symbol of 100 uniformly, a = median + N(0.5, 0.7) sd and b = a - |N(0, 0.2)| sd of that symbol, c as far
above a, volume bounds of 500 to 30,000, DUR 200 to 2,000, factors 1.005 to 1.035, counts 4 to 8; WITHIN is 500.

Here: these constants. Not here: the shapes (queries), what they are measured with (trial).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from ..ticks import SEED, Market

WITHIN: Final = 500


@dataclass(frozen=True, slots=True)
class Constants:
    """What a subscription draws."""

    symbol: str
    other: str
    a: float
    b: float
    c: float
    volume: float
    duration: int
    factor: float
    count: int


def drawn(ticks: Market, size: int) -> list[Constants]:
    """The constants of so many subscriptions; those of fewer are the first ones of more."""
    chance = random.Random(SEED)
    found = []
    for _ in range(size):
        symbol, other = chance.choice(ticks.symbols), chance.choice(ticks.symbols)
        a = symbol.median + chance.gauss(0.5, 0.7) * symbol.deviation
        b = a - abs(chance.gauss(0.0, 0.2)) * symbol.deviation
        c = a + abs(chance.gauss(0.0, 0.2)) * symbol.deviation
        found.append(
            Constants(
                symbol.name, other.name, a, b, c, chance.uniform(500, 30_000), chance.randint(200, 2_000),
                chance.uniform(1.005, 1.035), chance.randint(4, 8),
            )
        )  # fmt: skip
    return found

"""Law: the standard sets of subscriptions, as CEL text. Not here: the events (ticks), what must be found (plain_loops).

W1  the next tick of a symbol is above 1.01 times this one: one subscription
W2  rising runs of at least 5 ticks of a symbol (FOLD): one subscription
W4  N times: `name = X AND price > c1`, and the next tick of X has `price < c2`
W5  N times: `name = X AND price >= lo AND price <= hi AND volume > v`

X is uniform over the symbols, thresholds lie around the median of the symbol's own prices. Thresholds have four
decimals, so that text and number are the same. The first n of N + 1 subscriptions are those of N: more are only more.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .ticks import STREAM, Market

W1_FACTOR: Final = 1.01
W2_LENGTH: Final = 5

W1: Final = f"SELECT * FROM FILTER{{price > {W1_FACTOR} * price_1}}({STREAM} NEXT{{$2.name = $1.name}} {STREAM})"
W2: Final = (
    f"SELECT * FROM FILTER{{cnt >= {W2_LENGTH}}}((SELECT *, 1 AS cnt FROM {STREAM})"
    f" FOLD{{$2.name = $.name, $2.price > $.price, $.cnt + 1 AS cnt}} {STREAM})"
)


@dataclass(frozen=True, slots=True)
class TwoStep:
    """A subscription of W4."""

    symbol: str
    above: float
    below: float

    def cel(self) -> str:
        return (
            f"SELECT * FROM FILTER{{price < {self.below:.4f}}}("
            f"FILTER{{name = '{self.symbol}' AND price > {self.above:.4f}}}({STREAM})"
            f" NEXT{{$2.name = $1.name}} {STREAM})"
        )


@dataclass(frozen=True, slots=True)
class Box:
    """A subscription of W5."""

    symbol: str
    low: float
    high: float
    volume: int

    def cel(self) -> str:
        return (
            f"SELECT * FROM FILTER{{name = '{self.symbol}' AND price >= {self.low:.4f} AND price <= {self.high:.4f}"
            f" AND volume > {self.volume}}}({STREAM})"
        )


def w4(market: Market, count: int) -> list[TwoStep]:
    """c1 = median + N(0.5, 0.7) deviations, c2 = c1 - |N(0, 0.2)| deviations."""
    draw = random.Random(f"{market.seed} W4")
    found: list[TwoStep] = []
    for _ in range(count):
        symbol = draw.choice(market.symbols)
        above = symbol.median + draw.gauss(0.5, 0.7) * symbol.deviation
        below = above - abs(draw.gauss(0.0, 0.2)) * symbol.deviation
        found.append(TwoStep(symbol.name, round(above, 4), round(below, 4)))
    return found


def w5(market: Market, count: int) -> list[Box]:
    """lo = median + N(0, 1.2) deviations, hi = lo + |N(0, 0.3)| deviations, v lognormal(7, 1)."""
    draw = random.Random(f"{market.seed} W5")
    found: list[Box] = []
    for _ in range(count):
        symbol = draw.choice(market.symbols)
        low = symbol.median + draw.gauss(0.0, 1.2) * symbol.deviation
        high = low + abs(draw.gauss(0.0, 0.3)) * symbol.deviation
        found.append(Box(symbol.name, round(low, 4), round(high, 4), round(draw.lognormvariate(7.0, 1.0))))
    return found


def texts(subscriptions: Sequence[TwoStep | Box]) -> Mapping[str, str]:
    """CEL by subscription name."""
    return {f"q{number}": subscription.cel() for number, subscription in enumerate(subscriptions)}

"""The standard sets of subscriptions, as CEL text. Not here: the events (ticks), what must be found (plain_loops).

W1  the next tick of a symbol is above 1.01 times this one: one subscription
W2  rising runs of at least 5 ticks of a symbol (FOLD): one subscription
W4  N times: `name = X AND price > c1`, and the next tick of X has `price < c2`
W5  N times: `name = X AND price >= lo AND price <= hi AND volume > v`

X is uniform over the symbols, thresholds lie around the median of the symbol's own prices. Thresholds have four
decimals, so that text and number are the same. The first n of N + 1 subscriptions are those of N: more are only more.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
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


@dataclass(frozen=True, slots=True)
class Jump:
    """W1 with a factor of its own."""

    factor: float

    def cel(self) -> str:
        pairs = f"{STREAM} NEXT{{$2.name = $1.name}} {STREAM}"
        return f"SELECT * FROM FILTER{{price > {self.factor:.6f} * price_1}}({pairs})"


@dataclass(frozen=True, slots=True)
class Chain:
    """So many ticks of a symbol in a row, each above its own threshold."""

    symbol: str
    above: tuple[float, ...]

    def cel(self) -> str:
        first, *others = self.above
        body = f"FILTER{{name = '{self.symbol}' AND price > {first:.4f}}}({STREAM})"
        for above in others:
            body = f"FILTER{{price > {above:.4f}}}({body} NEXT{{$2.name = $1.name}} {STREAM})"
        return f"SELECT * FROM {body}"


def w4(market: Market, count: int) -> list[TwoStep]:
    """c1 = median + N(0.5, 0.7) deviations, c2 = c1 - |N(0, 0.2)| deviations. O(count)."""
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


def w4_rare(market: Market, count: int, like: int) -> list[TwoStep]:
    """`count` subscriptions with about as many matches an event as `like` ones have; `count` = `like` scales nothing.

    c1 is W4's, so that `count / like` times as many runs begin. The step down to c2 is drawn `count / like` times as
    wide: a tick steps far less than the widths, so that nearly only the smallest matter, which are that much rarer.
    c2 = c1 * exp(-step / c1), which for small steps is c1 - step, stays above zero, as the prices do.
    """
    wide = 0.2 * count / like
    draw = random.Random(f"{market.seed} W4 rare")
    found: list[TwoStep] = []
    for _ in range(count):
        symbol = draw.choice(market.symbols)
        above = max(0.01, symbol.median + draw.gauss(0.5, 0.7) * symbol.deviation)
        step = abs(draw.gauss(0.0, wide)) * symbol.deviation
        found.append(TwoStep(symbol.name, round(above, 4), round(above * math.exp(-step / above), 4)))
    return found


def w5_rare(market: Market, count: int, like: int) -> list[Box]:
    """`count` boxes with about as many matches an event as `like` ones have: `count / like` times narrower."""
    narrow = 0.3 * like / count
    draw = random.Random(f"{market.seed} W5 rare")
    found: list[Box] = []
    for _ in range(count):
        symbol = draw.choice(market.symbols)
        low = symbol.median + draw.gauss(0.0, 1.2) * symbol.deviation
        high = low + abs(draw.gauss(0.0, narrow)) * symbol.deviation
        found.append(Box(symbol.name, round(low, 4), round(high, 4), round(draw.lognormvariate(7.0, 1.0))))
    return found


def w4_skewed(market: Market, count: int, skew: float) -> list[TwoStep]:
    """W4 with symbols drawn by Zipf of that skew: who ticks most has most subscribers; with 0 the symbols are equal."""
    draw = random.Random(f"{market.seed} W4 skewed")
    weights = list(accumulate(rank**-skew for rank in range(1, len(market.symbols) + 1)))
    found: list[TwoStep] = []
    for _ in range(count):
        [symbol] = draw.choices(market.symbols, cum_weights=weights)
        above = symbol.median + draw.gauss(0.5, 0.7) * symbol.deviation
        below = above - abs(draw.gauss(0.0, 0.2)) * symbol.deviation
        found.append(TwoStep(symbol.name, round(above, 4), round(below, 4)))
    return found


def jumps(market: Market, count: int) -> list[Jump]:
    """Factors of 1.015 + |N(0, 0.01)|: three of a tick's usual steps and more."""
    draw = random.Random(f"{market.seed} jumps")
    return [Jump(round(1.015 + abs(draw.gauss(0.0, 0.01)), 6)) for _ in range(count)]


def chains(market: Market, count: int, length: int) -> list[Chain]:
    """Each threshold is median + N(0, 0.7) deviations: the longer, the fewer matches."""
    draw = random.Random(f"{market.seed} chains")
    found: list[Chain] = []
    for _ in range(count):
        symbol = draw.choice(market.symbols)
        above = tuple(round(symbol.median + draw.gauss(0.0, 0.7) * symbol.deviation, 4) for _ in range(length))
        found.append(Chain(symbol.name, above))
    return found


def texts(subscriptions: Sequence[TwoStep | Box | Jump | Chain]) -> Mapping[str, str]:
    """CEL by subscription name."""
    return {f"q{number}": subscription.cel() for number, subscription in enumerate(subscriptions)}

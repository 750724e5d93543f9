"""The SASE+ queries that are measured, as texts, and the events made for them. Not here: their matches.

W3 is the paper's Query 3 by symbol; its max variant asks a new highest price instead of one above the average. Rising
runs that may skip anything are what sharing pasts is for; letters are one key of few kinds of events, where matches are
as many as subsets. Pairs of boxes are what an index is for.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..ticks import STREAM, Market, Tick
from ..workloads import w5_rare

VOLUME: Final = 1_000
FACTOR: Final = 80  # percent
WIDE: Final = (5.0, 80.0)
RARE: Final = (0.2, 2.0)  # a thousand of these have a few times the matches of Query 3
LETTER: Final = "K"
A, B, OTHER = 1, 2, 3  # kinds of letters, told by their volume
WEIGHTS: Final = (70, 10, 20)
PAIR_WITHIN: Final = 2_000


def query_3(within: int, measure: str = "avg", percent: str = str(FACTOR), output: str = "") -> str:
    """Query 3 by symbol; `measure` is avg or max."""
    return (
        f"PATTERN SEQ({STREAM}+ a[], {STREAM} b) WHERE skip_till_next_match(a[], b)"
        f" {{ [name] AND a[1].volume > {VOLUME} AND a[i].price > {measure}(a[..i-1].price)"
        f" AND b.volume < {percent}% * a[a.LEN].volume }} WITHIN {within}{output}"
    )


def variants(several: Sequence[float], within: int) -> dict[str, str]:
    """Query 3 with each of these percentages."""
    return {f"q{number}": query_3(within, percent=f"{percent:.4f}") for number, percent in enumerate(several)}


def percents(count: int, bounds: tuple[float, float]) -> list[float]:
    """Uniform between the bounds, ascending."""
    draw = random.Random("variants of Query 3")
    return sorted(round(draw.uniform(*bounds), 4) for _ in range(count))


def letters(within: int, output: str = " OUTPUT compressed") -> str:
    """Any of the A's in the window, at least one, and then a B."""
    return (
        f"PATTERN SEQ({STREAM}+ a[], {STREAM} b) WHERE skip_till_any_match(a[], b)"
        f" {{ [name] AND a[1].volume = {A} AND a[i].volume = {A} AND b.volume = {B} }} WITHIN {within}{output}"
    )


def letter_ticks(count: int) -> list[Tick]:
    """Events of one key: 7 of 10 are A, 1 is B."""
    draw = random.Random("letters")
    return [(LETTER, 1.0, kind) for kind in draw.choices((A, B, OTHER), WEIGHTS, k=count)]


def climbs(within: int, output: str = " OUTPUT compressed") -> str:
    """Any rising prices of a symbol, and then a volume below a tenth of the last one's."""
    return (
        f"PATTERN SEQ({STREAM}+ a[], {STREAM} b) WHERE skip_till_any_match(a[], b)"
        f" {{ [name] AND a[i].price > a[i-1].price AND b.volume < 10% * a[a.LEN].volume }} WITHIN {within}{output}"
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """A price in a box, and later one in the box of the same width above it."""

    symbol: str
    low: float
    high: float

    @property
    def top(self) -> float:
        return round(2 * self.high - self.low, 4)

    def sase(self) -> str:
        return (
            f"PATTERN SEQ({STREAM} a, {STREAM} b) WHERE skip_till_next_match(a, b)"
            f" {{ a.name = '{self.symbol}' AND b.name = '{self.symbol}'"
            f" AND a.price >= {self.low:.4f} AND a.price <= {self.high:.4f}"
            f" AND b.price > {self.high:.4f} AND b.price <= {self.top:.4f} }} WITHIN {PAIR_WITHIN}"
        )


def pairs(market: Market, count: int, like: int) -> list[Pair]:
    """`count` pairs of boxes, `count / like` times narrower: about as many ticks are in one, however many there are."""
    return [Pair(box.symbol, box.low, box.high) for box in w5_rare(market, count, like)]


def pair_texts(several: Sequence[Pair]) -> dict[str, str]:
    return {f"p{number}": pair.sase() for number, pair in enumerate(several)}
